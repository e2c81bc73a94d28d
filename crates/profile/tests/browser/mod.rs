//! Pages in headless Chromium: a script behind the page's own does what a user does and records in `told` the text on
//! the screen, which Chromium prints with the document.
//!
//! Needs `chromium`, or the program that CHROMIUM names.

use std::path::PathBuf;
use std::process::Command;

/// The document after `script` has run, with the console's output; None without Chromium. `fragment` is appended to the
/// address.
pub fn browse(name: &str, page: &str, fragment: &str, script: &str) -> Option<(String, Vec<String>)> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("page").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("page.html");
    let driver = format!(
        "<script>const q = s => document.querySelector(s); const told = {{}}; (() => {{ {script} }})();\
         const pre = document.createElement('pre'); pre.id = 'told'; pre.textContent = JSON.stringify(told); document.body.append(pre);</script>"
    );
    std::fs::write(&file, page.replace("</html>", &(driver + "</html>"))).expect("a page");
    let browser = std::env::var("CHROMIUM").unwrap_or_else(|_| "chromium".into());
    let run = Command::new("timeout")
        .args(["120", &browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--no-first-run", "--disable-extensions", "--disable-background-networking", "--window-size=1200,900"])
        .args(["--enable-logging=stderr", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.join("user").display()))
        .arg(format!("file://{}{fragment}", file.display()))
        .env("HOME", &folder)
        .output()
        .expect("coreutils");
    let (document, log) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    // timeout's codes for a program that is not there, or cannot be started.
    if matches!(run.status.code(), Some(126 | 127)) {
        eprintln!("skipped: {browser} is not here");
        return None;
    }
    assert!(run.status.success(), "{browser}: {} {log}", run.status);
    let console = log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
    Some((document.into_owned(), console))
}

/// The script's results, for a page whose console is silent.
pub fn told(name: &str, page: &str, fragment: &str, script: &str) -> Option<serde_json::Value> {
    let (document, console) = browse(name, page, fragment, script)?;
    assert_eq!(console, [""; 0], "the console");
    let (_, rest) = document.split_once("<pre id=\"told\">").unwrap_or_else(|| panic!("no report in {document}"));
    let text = rest.split_once("</pre>").map_or(rest, |(text, _)| text);
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u{a0}").replace("&amp;", "&");
    Some(serde_json::from_str(&text).expect("JSON"))
}
