//! Calls: of barriers, of functions and closures in the sources, and of what is only known by name.

use std::rc::Rc;

use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall, FnArg};

use super::super::known::{self, Known, Method};
use super::super::names::Function;
use super::super::report::Rule;
use super::super::source::Site;
use super::super::value::{Cause, Closure, Reason, Value};
use super::{Call, Flow, Landing, MAX_DEPTH};

impl<'a> Flow<'a> {
    pub(super) fn call(&mut self, call: &'a ExprCall) -> Value<'a> {
        let span = call.func.span();
        let site = self.site(span);
        let path = match &*call.func {
            Expr::Path(path)
                if path.path.get_ident().is_none_or(|ident| self.lookup(&ident.to_string()).is_none()) =>
            {
                self.names.path(self.file(), &path.path)
            }
            callee => {
                let callee = self.eval(callee);
                let arguments = self.arguments_of(call);
                return self.call_value(&callee, &arguments, site);
            }
        };
        let arguments = self.arguments_of(call);
        let names = self.names;
        let functions: Vec<_> = names
            .called(&path)
            .filter(|function| function.signature.inputs.len() == arguments.len())
            .collect();
        if functions.is_empty() {
            return self.call_known(&path, &arguments, span);
        }
        let mut result = Value::default();
        for function in functions {
            let value = self.enter(function, arguments.clone(), site);
            result = join(result, value);
        }
        result
    }

    fn arguments_of(&mut self, call: &'a ExprCall) -> Vec<Value<'a>> {
        call.args.iter().map(|argument| self.eval(argument)).collect()
    }

    /// A call of what the sources do not define.
    fn call_known(&mut self, path: &[String], arguments: &[Value<'a>], span: proc_macro2::Span) -> Value<'a> {
        let site = self.site(span);
        let name = path.join("::");
        let mut joined = Value::default();
        for argument in arguments {
            joined.absorb(&argument.flat());
        }
        match known::function(path) {
            Some(Known::Barrier) => {
                self.barrier(&name, span);
                Value::default()
            }
            Some(Known::Uniform) => Value::default(),
            Some(Known::Varying) => Value::varying(Reason::source(format!("{name}()"), site)),
            Some(Known::Pure) => {
                self.run_closures(arguments, &joined.clone(), None, site);
                let targets = joined.targets.clone();
                self.write(&targets, &joined, span);
                joined
            }
            None => {
                let cause = Reason::source(format!("{name}(), which is not among the files read"), site);
                if self.control().is_some() {
                    self.notes.push(self.reporter.unread(&name, site));
                }
                let value = Value::varying(Rc::clone(&cause));
                self.run_closures(arguments, &value, Some(&cause), site);
                self.lend(&joined.targets, &cause, span);
                value
            }
        }
    }

    /// A call of a value: the closures that it may be.
    fn call_value(&mut self, callee: &Value<'a>, arguments: &[Value<'a>], site: Site) -> Value<'a> {
        let mut result = Value::default();
        if callee.closures.is_empty() {
            let cause = Reason::source("a call of a function that is not known", site);
            self.run_closures(arguments, &Value::varying(Rc::clone(&cause)), Some(&cause), site);
            return Value::varying(cause);
        }
        // Which of several closures is called may differ between threads.
        let which = callee.varying.clone();
        for closure in &callee.closures {
            let value = self.under(which.as_ref(), |flow| flow.run(closure, arguments, site));
            result = join(result, value);
        }
        result.taint(which.as_ref());
        result
    }

    /// Runs the closures among the arguments of a call that is not followed: with this value for all
    /// their arguments, and under this condition.
    fn run_closures(
        &mut self,
        arguments: &[Value<'a>],
        item: &Value<'a>,
        condition: Option<&Cause>,
        site: Site,
    ) -> Value<'a> {
        let mut result = Value::default();
        for closure in arguments.iter().flat_map(|argument| &argument.closures) {
            let items = vec![item.clone(); closure.expr.inputs.len()];
            let value = self.under(condition, |flow| flow.run(closure, &items, site));
            result.absorb(&value.flat());
        }
        result
    }

    pub(super) fn method_call(&mut self, call: &'a ExprMethodCall) -> Value<'a> {
        let span = call.method.span();
        let site = self.site(span);
        let name = call.method.to_string();
        let receiver = match known::method(&name) {
            Method::Compute => self.eval(&call.receiver),
            _ => self.memory_or_value(&call.receiver),
        };
        let arguments: Vec<_> = call.args.iter().map(|argument| self.eval(argument)).collect();
        if known::is_barrier(&name) {
            self.barrier(&name, span);
            return Value::default();
        }

        let mut result = self.method_known(call, &receiver, &arguments);
        let mut all = vec![self.lent(receiver, &call.receiver)];
        all.extend(arguments);
        let names = self.names;
        for function in names.methods(&name).filter(|function| function.signature.inputs.len() == all.len()) {
            let value = self.enter(function, all.clone(), site);
            result = join(result, value);
        }
        result
    }

    /// A method as far as its name tells.
    fn method_known(
        &mut self,
        call: &'a ExprMethodCall,
        receiver: &Value<'a>,
        arguments: &[Value<'a>],
    ) -> Value<'a> {
        let span = call.method.span();
        let site = self.site(span);
        let name = call.method.to_string();
        let method = known::method(&name);
        let mut value = receiver.flat();
        for argument in arguments {
            value.absorb(&argument.flat());
        }
        let loads = match method {
            Method::Measure => return receiver.computed(),
            Method::Load => true,
            Method::Address => false,
            Method::Compute | Method::Other => receiver.memory,
        };
        if loads {
            value.taint(Some(&Reason::unknown(format!(".{name}(), loaded from memory"), site)));
        }

        // Methods of numbers, ranges and options: a closure runs for all threads, or for none.
        let mut item = value.clone();
        item.closures.clear();
        let condition = self.cause(&format!("what .{name}() is called on"), span, &item);
        let handed = self.run_closures(arguments, &item, condition.as_ref(), site);
        value.absorb(&handed);

        // `it.next()`, `array.swap(a, b)`, `x.as_mut_ptr()` change or lend what they are called on.
        let lends = name.contains("mut") || name == "by_ref";
        if method == Method::Other || lends {
            let lent = value.computed();
            self.write(&lent.targets, &lent, span);
            if !receiver.memory
                && let Some(var) = self.root(&call.receiver)
            {
                self.store(var, &lent, span, false);
            }
            value = self.lent(value, &call.receiver);
        }
        value
    }

    /// Follows a call into its function.
    pub(super) fn enter(
        &mut self,
        function: &'a Function<'a>,
        arguments: Vec<Value<'a>>,
        site: Site,
    ) -> Value<'a> {
        let recursive = self.calls.iter().any(|call| call.function == Some(function.site));
        if recursive || self.calls.len() >= MAX_DEPTH {
            return self.give_up(function, &arguments, site);
        }
        self.entered.insert(function.site);
        let scope = std::mem::take(&mut self.scope);
        self.push_call(Some(function.site), &function.name, function.site, site);
        for (input, argument) in function.signature.inputs.iter().zip(&arguments) {
            match input {
                FnArg::Receiver(receiver) => {
                    let ident = proc_macro2::Ident::new("self", receiver.self_token.span);
                    self.declare(&ident, "self", argument.clone());
                }
                FnArg::Typed(typed) => self.bind(&typed.pat, argument, None),
            }
        }
        let value = self.finish_call(|flow| flow.block(function.body));
        self.scope = scope;
        value
    }

    /// Runs a closure.
    fn run(&mut self, closure: &Rc<Closure<'a>>, arguments: &[Value<'a>], site: Site) -> Value<'a> {
        if self.calls.len() >= MAX_DEPTH {
            let cause = Reason::source("a closure that is not followed any deeper", site);
            self.lost_barrier("a closure is not followed any deeper", site);
            return Value::varying(cause);
        }
        let scope = std::mem::replace(&mut self.scope, closure.scope.clone());
        let own = Site::new(closure.file, closure.expr.or1_token.span);
        self.push_call(None, "a closure", own, site);
        // What it declares belongs to the function it is written in.
        if let Some(call) = self.calls.last_mut() {
            call.frame = closure.frame;
        }
        for (input, argument) in closure.expr.inputs.iter().zip(arguments) {
            self.bind(input, argument, None);
        }
        let value = self.finish_call(|flow| flow.eval(&closure.expr.body));
        self.scope = scope;
        value
    }

    fn push_call(&mut self, function: Option<Site>, name: &str, own: Site, site: Site) {
        let next = self.frames.len() + 1;
        let frame = *self.frames.entry((self.frame(), site, own)).or_insert(next);
        let (base, returned) = (self.breakables.len(), Value::default());
        self.calls.push(Call {
            function,
            name: name.to_owned(),
            file: own.file,
            frame,
            site,
            base,
            returned,
        });
    }

    /// Reads the body of a call. Threads that returned early are back afterwards.
    fn finish_call(&mut self, read: impl FnOnce(&mut Self) -> Value<'a>) -> Value<'a> {
        let depth = self.exits.len();
        let level = self.calls.len();
        let mut value = read(self);
        for exit in self.exits.split_off(depth) {
            if exit.landing == Landing::Return(level) {
                value.taint(Some(&exit.cause));
            } else {
                self.exits.push(exit);
            }
        }
        if let Some(call) = self.calls.pop() {
            value = join(value, call.returned);
        }
        value
    }

    /// A call that is not followed: anything may come back, and a barrier in it is out of sight.
    fn give_up(&mut self, function: &Function<'a>, arguments: &[Value<'a>], site: Site) -> Value<'a> {
        let name = &function.name;
        let cause = Reason::source(format!("{name}(), which is not followed any deeper"), site);
        if self.names.synchronises(name) {
            self.lost_barrier(&format!("`{name}` calls itself, or too deep, and holds a barrier"), site);
        }
        self.run_closures(arguments, &Value::varying(Rc::clone(&cause)), Some(&cause), site);
        for argument in arguments {
            self.write(&argument.targets, &Value::varying(Rc::clone(&cause)), function.signature.span());
        }
        Value::varying(cause)
    }

    /// A barrier that this analysis cannot judge.
    pub(super) fn lost_barrier(&mut self, what: &str, site: Site) {
        let function = self.calls.first().map(|call| call.name.clone()).unwrap_or_default();
        let what = what.to_owned();
        self.findings.push(self.reporter.finding(Rule::UntrackedBarrier, site, &function, what));
    }
}

/// Either of two values, keeping the parts of one where the other has nothing to say.
fn join<'a>(one: Value<'a>, other: Value<'a>) -> Value<'a> {
    let (mut whole, extra) = if one.parts.is_empty() { (other, one) } else { (one, other) };
    let says_nothing = extra.parts.is_empty()
        && extra.varying.is_none()
        && !extra.memory
        && extra.targets.is_empty()
        && extra.closures.is_empty();
    if !says_nothing {
        whole.absorb(&extra);
    }
    whole
}
