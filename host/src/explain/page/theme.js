// Light and dark: as the system has it, until the reader says otherwise.
const root = document.documentElement;
const remember = (theme) => { try { localStorage.setItem("theme", theme); } catch { /* a page from disk may not */ } };
const remembered = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
const setTheme = (theme) => { if (theme === "light" || theme === "dark") root.style.colorScheme = theme; };
setTheme(remembered());
document.getElementById("theme").addEventListener("click", () => {
  const now = root.style.colorScheme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const next = now === "dark" ? "light" : "dark";
  setTheme(next);
  remember(next);
});
