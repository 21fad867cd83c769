//! What single instructions leave in memory, where more than one register or access takes part.

use simt::Launch;

use crate::support::{Run, kernel, module, verdict};

/// The words that one thread leaves of these after this body, which finds their address in `%out`.
#[track_caller]
fn left(body: &str, words: &[u32]) -> Vec<u32> {
    let text = module(".param .u64 g", &format!("ld.param.u64 %out, [g];\n{body}"));
    let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let done = Run::new(&kernel(&text), Launch::new(1, 1), &[bytes]).go();
    assert_eq!(verdict(&done.outcome.report), "clean");
    done.buffers[0]
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes")))
        .collect()
}

#[test]
fn lop3_joins_whether_its_result_is_zero_with_a_predicate() {
    let body = |operation: &str, with: &str, b: u32| {
        format!(
            "mov.b32 %w0, 0xff00; mov.b32 %w1, {b}; setp.eq.u32 %p1, %w0, %w0;
             lop3.{operation}.b32 %w0|%p2, %w0, %w1, %w1, 0xc0, {with};
             selp.u32 %w2, 1, 0, %p2; st.global.v2.b32 [%out], {{%w0, %w2}};"
        )
    };
    assert_eq!(left(&body("and", "%p1", 0x0ff0), &[9, 9]), [0x0f00, 1]);
    assert_eq!(left(&body("and", "!%p1", 0x0ff0), &[9, 9]), [0x0f00, 0]);
    assert_eq!(left(&body("and", "%p1", 0x00ff), &[9, 9]), [0, 0]);
    assert_eq!(left(&body("or", "%p1", 0x00ff), &[9, 9]), [0, 1]);
    assert_eq!(left(&body("or", "!%p1", 0x00ff), &[9, 9]), [0, 0]);
}

#[test]
fn an_atomic_on_a_vector_is_one_for_each_element() {
    let (one, two, three, four) = (1f32.to_bits(), 2f32.to_bits(), 3f32.to_bits(), 4f32.to_bits());
    let body = "mov.b32 %w0, 0f3F800000; mov.b32 %w1, 0f40000000;
                red.global.add.v2.f32 [%out], {%w0, %w1};";
    assert_eq!(left(body, &[two, two]), [three, four]);
    // The results take the place of the operands.
    let body = "mov.b32 %w0, 0f3F800000; mov.b32 %w1, 0f40000000;
                atom.global.add.v2.f32 {%w1, %w0}, [%out], {%w0, %w1};
                st.global.v2.b32 [%out+8], {%w1, %w0};";
    assert_eq!(left(body, &[two, one, 0, 0]), [three, three, two, one]);
}

#[test]
fn warp_sz_is_a_constant() {
    assert_eq!(left("mad.lo.u32 %w0, %t, WARP_SZ, WARP_SZ; st.global.u32 [%out], %w0;", &[0]), [32]);
}

/// The operations of `.f64` that lanes do together give the NaN that they give one by one.
#[test]
fn nans_of_double_precision_come_through() {
    let body = "ld.global.v2.u64 {%d0, %d1}, [%out]; add.rn.f64 %d2, %d0, %d1; div.rn.f64 %d3, %d0, %d1;
                fma.rn.f64 %d4, %d0, %d0, %d1; sub.f64 %d5, %d0, %d0;
                st.global.v2.u64 [%out], {%d2, %d3}; st.global.v2.u64 [%out+16], {%d4, %d5};";
    let words = [1, 0x7ff0_0000, 2, 0xfff0_0000, 0, 0, 0, 0];
    assert_eq!(left(body, &words), [2, 0xfff8_0000, 1, 0x7ff8_0000, 1, 0x7ff8_0000, 1, 0x7ff8_0000]);
    let body = "ld.global.u64 %d0, [%out]; sub.rn.f64 %d0, %d0, %d0; st.global.u64 [%out], %d0;";
    assert_eq!(left(body, &[0, 0x7ff0_0000]), [0, 0xfff8_0000]);
}
