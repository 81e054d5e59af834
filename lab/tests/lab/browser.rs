//! The report in a real browser: it opens, its filters work, and nothing in it goes wrong.
//!
//! Without a browser that works these tests say so and pass, unless `GOSSAMER_NEEDS_BROWSER` is set, as in CI.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::patience::Patience;
use crate::samples::{machine, quiet, ring, write};
use crate::support::{Place, stderr};

const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const NEEDED: &str = "GOSSAMER_NEEDS_BROWSER";

/// What the test adds to its copy of a page before the page's own script: errors are collected.
const WATCH: &str = "<script>
    window.failures = [];
    window.addEventListener('error', (event) => window.failures.push(event.message));
</script>";

/// What it adds at the end: `ACT` is done, then what can be seen is written into the page.
const TELL: &str = "<pre id=\"told\"></pre><script>
    const shown = (selector) => [...document.querySelectorAll(selector)]
        .filter((element) => element.getClientRects().length > 0 && !element.closest('[hidden]'))
        .map((element) => element.dataset.contender);
    const tell = () => {
        const bars = [...document.querySelectorAll('#race-0 svg.bars')][0];
        document.getElementById('told').textContent = 'TOLD' + JSON.stringify({
            overview: shown('.overview tbody tr'),
            rows: shown('#race-0 tbody tr'),
            bars: shown('#race-0 .charts figure:first-child g[data-contender]'),
            lines: shown('.growth .charts figure:first-child g[data-contender]'),
            places: bars ? [...bars.querySelectorAll('g[data-contender]')]
                .filter((bar) => bar.style.display !== 'none')
                .map((bar) => bar.getAttribute('transform')) : [],
            status: document.getElementById('shown').textContent,
            hash: location.hash,
            means: [...document.querySelectorAll('.overview tbody tr')]
                .map((row) => row.dataset.contender + ': ' + row.querySelector('td.against').textContent),
            against: document.getElementById('named').textContent,
            files: Object.keys(JSON.parse(document.getElementById('data').textContent).files),
            failures: window.failures,
        }) + 'END';
    };
    ACT;
    tell();
</script>";

/// The first browser that opens a page; `None`, said on stderr, if none does and none is demanded.
fn browser() -> Option<&'static str> {
    static FOUND: OnceLock<Option<&'static str>> = OnceLock::new();
    let found = *FOUND.get_or_init(|| NAMES.into_iter().find(|name| works(name)));
    if found.is_none() {
        let names = NAMES.join(", ");
        eprintln!("no browser here that works ({names}): the report was not opened in one");
        assert!(
            std::env::var_os(NEEDED).is_none_or(|value| value.is_empty()),
            "{NEEDED} is set, and none of {names} opens a page; install chromium"
        );
    }
    found
}

/// Whether it is there and opens a page: in some containers it is, and does not.
fn works(name: &str) -> bool {
    let profile = tempfile::tempdir().expect("a temporary folder");
    let opened = Command::new("timeout")
        .args(["60", name])
        .args(OPTIONS)
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg("data:text/html,<p>opened</p>")
        .stdin(Stdio::null())
        .output();
    opened.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("opened"))
}

/// Options for a browser that nobody sits in front of, and whose profile is nobody's.
const OPTIONS: [&str; 12] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--enable-logging=stderr",
    "--v=0",
    "--virtual-time-budget=5000",
    "--window-size=1200,900",
    "--dump-dom",
];
/// How long a browser may take to start and to open a page; reached only when a test fails.
const PATIENCE: Duration = Duration::from_secs(120);

/// Opens a page and returns what became of it, and what the browser printed.
fn open(browser: &str, page: &Path, fragment: &str) -> (String, String) {
    let profile = tempfile::tempdir().expect("a temporary folder");
    let child = Command::new(browser)
        .args(OPTIONS)
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}{fragment}", page.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the browser starts");
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (tx, ended) = mpsc::channel();
    thread::spawn(move || tx.send(child.wait_with_output()));
    let Ok(output) = Patience::new(PATIENCE).recv(&ended) else {
        let killed = kill_process(pid.expect("a pid"), Signal::KILL);
        panic!("the browser did not end within {PATIENCE:?}; it was killed: {killed:?}");
    };
    let output = output.expect("the browser was started");
    assert!(output.status.success(), "{}", stderr(&output));
    let page = String::from_utf8_lossy(&output.stdout).into_owned();
    (page, stderr(&output))
}

/// A report with three contenders, one of them in a series of sizes.
fn report(place: &Place) {
    let rows =
        ["gossamer/single", "go", "pthreads"].map(|name| quiet(name, 10.0 * name.len() as f64));
    write(place, "ring.json", &machine(), &rows);
    for name in ["gossamer/single", "go"] {
        let sizes = [10, 100, 1_000].map(|threads| ring(name, threads, &[threads as f64; 5]));
        let file = format!("{}.json", name.replace('/', "-"));
        write(place, &file, &machine(), &sizes);
    }
    let output = place.tool("report ring.json gossamer-single.json go.json --out page.html");
    assert!(output.status.success(), "{}", stderr(&output));
}

/// Opens a copy of the report, acts in it, and returns what can be seen then.
fn seen(fragment: &str, act: &str) -> Option<serde_json::Value> {
    let place = Place::empty();
    report(&place);
    seen_in(&place, fragment, act)
}

/// The same of the page that is there.
fn seen_in(place: &Place, fragment: &str, act: &str) -> Option<serde_json::Value> {
    let browser = browser()?;
    let page = std::fs::read_to_string(place.path("page.html")).expect("the page");
    let tell = TELL.replace("ACT", act);
    let page = page.replacen("<head>", &format!("<head>{WATCH}"), 1);
    let page = page.replacen("</body>", &format!("{tell}</body>"), 1);
    std::fs::write(place.path("copy.html"), page).expect("our own folder");
    let (dom, printed) = open(browser, &place.path("copy.html"), fragment);
    assert!(
        !printed.contains("CONSOLE"),
        "the console is not empty: {printed}"
    );
    let (_, told) = dom
        .split_once(">TOLD")
        .unwrap_or_else(|| panic!("nothing was told: {dom}\n{printed}"));
    let (told, _) = told.split_once("END").expect("it ends");
    let told = told
        .replace("&gt;", ">")
        .replace("&lt;", "<")
        .replace("&amp;", "&");
    let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(told["failures"], serde_json::json!([]), "{told:#}");
    Some(told)
}

#[track_caller]
fn shows(told: &serde_json::Value, part: &str, names: &[&str]) {
    let mut shown: Vec<&str> = told[part]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(serde_json::Value::as_str)
        .collect();
    shown.sort_unstable();
    shown.dedup();
    assert_eq!(shown, names, "{part} in {told:#}");
}

#[test]
fn it_opens_whole() {
    let Some(told) = seen("", "") else { return };
    let all = ["go", "gossamer/single", "pthreads"];
    for part in ["overview", "rows", "bars"] {
        shows(&told, part, &all);
    }
    shows(&told, "lines", &all[..2]);
    assert_eq!(told["status"], "3 of 3 contenders");
    assert_eq!(told["files"].as_array().map(Vec::len), Some(3));
}

#[test]
fn the_fragment_filters() {
    let Some(told) = seen("#only=gossamer/single,pthreads", "") else {
        return;
    };
    for part in ["overview", "rows", "bars"] {
        shows(&told, part, &["gossamer/single", "pthreads"]);
    }
    shows(&told, "lines", &["gossamer/single"]);
    assert_eq!(told["status"], "2 of 3 contenders");
    // The bars that are left close the gap.
    assert_eq!(
        told["places"],
        serde_json::json!(["translate(0 22)", "translate(0 41)"])
    );
}

#[test]
fn an_unknown_name_is_said() {
    let Some(told) = seen("#only=go,nobody", "") else {
        return;
    };
    shows(&told, "rows", &["go"]);
    assert_eq!(
        told["status"],
        "1 of 3 contenders; not in this report: nobody"
    );
}

#[test]
fn a_click_filters_and_is_kept_in_the_fragment() {
    let click = "document.querySelector('input.contender[value=\"go\"]').click()";
    let Some(told) = seen("", click) else { return };
    for part in ["overview", "rows", "bars"] {
        shows(&told, part, &["gossamer/single", "pthreads"]);
    }
    assert_eq!(told["hash"], "#only=gossamer/single,pthreads");
}

#[test]
fn a_category_filters() {
    let click = "document.querySelector('input.category[value=\"POSIX\"]').click()";
    let Some(told) = seen("", click) else { return };
    shows(&told, "rows", &["go", "gossamer/single"]);
    assert_eq!(told["hash"], "#only=go,gossamer/single");
}

#[test]
fn a_part_of_a_name_filters() {
    let type_it = "document.getElementById('find').value = 'GO'; \
                   document.getElementById('find').dispatchEvent(new Event('input'))";
    let Some(told) = seen("", type_it) else {
        return;
    };
    shows(&told, "rows", &["go", "gossamer/single"]);
    assert_eq!(told["hash"], "#find=GO");
}

#[test]
fn means_are_against_whom_one_likes() {
    let choose = "const select = document.getElementById('against'); \
                  const choose = (name) => { select.value = name; select.dispatchEvent(new Event('change')); }; ";
    let Some(own) = seen("", "") else { return };
    // 150, 20 and 80 ns.
    let means = [
        "go: 0.13 of 1",
        "pthreads: 0.53 of 1",
        "gossamer/single: 1.00 of 1",
    ];
    assert_eq!(own["means"], serde_json::json!(means));
    let others = [
        "go: 1.00 of 1",
        "pthreads: 4.00 of 1",
        "gossamer/single: 7.50 of 1",
    ];
    for (fragment, act) in [
        ("#against=go", String::new()),
        ("", format!("{choose} choose('go')")),
    ] {
        let Some(told) = seen(fragment, &act) else {
            return;
        };
        assert_eq!(told["means"], serde_json::json!(others));
        assert_eq!(told["against"], "against go");
        assert_eq!(told["hash"], "#against=go");
    }
    // There and back: the script's figures are those that the page came with.
    let Some(told) = seen(
        "",
        &format!("{choose} choose('go'); choose('gossamer/single')"),
    ) else {
        return;
    };
    assert_eq!(told["means"], own["means"]);
    assert_eq!(told["against"], own["against"]);
}

#[test]
fn everything_comes_back() {
    let click = "document.getElementById('none').click(); document.getElementById('all').click()";
    let Some(told) = seen("#only=go", click) else {
        return;
    };
    shows(&told, "bars", &["go", "gossamer/single", "pthreads"]);
    assert_eq!(told["status"], "3 of 3 contenders");
}

#[test]
fn ten_are_shown_until_one_clicks_for_more() {
    let place = Place::empty();
    let peer = |at: u32| quiet(&format!("peer{at:02}"), 20.0 + f64::from(at));
    let mut rows: Vec<serde_json::Value> = (0..12).map(peer).collect();
    rows.push(quiet("gossamer/x", 100.0));
    write(&place, "ring.json", &machine(), &rows);
    let output = place.tool("report ring.json --out page.html");
    assert!(output.status.success(), "{}", stderr(&output));
    let all: Vec<String> = (0..12).map(|at| format!("peer{at:02}")).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let (first, everybody) = (
        [&["gossamer/x"], &all[..9]].concat(),
        [&["gossamer/x"], &all[..]].concat(),
    );
    let click = "document.querySelector('#race-0 button.more').click()";
    let twice = format!("{click}; {click}");
    for (act, shown) in [("", &first), (click, &everybody), (&twice, &first)] {
        let Some(told) = seen_in(&place, "", act) else {
            return;
        };
        shows(&told, "bars", shown);
        shows(&told, "rows", &everybody);
    }
    // Who is chosen by name is shown.
    let Some(told) = seen_in(&place, "#only=peer11,gossamer/x", "") else {
        return;
    };
    shows(&told, "bars", &["gossamer/x", "peer11"]);
}

#[test]
fn the_page_as_it_is_prints_nothing_to_the_console() {
    let Some(browser) = browser() else { return };
    let place = Place::empty();
    report(&place);
    let (dom, printed) = open(browser, &place.path("page.html"), "#only=go");
    assert!(dom.contains("1 of 3 contenders"), "its script did not run");
    assert!(!printed.contains("CONSOLE"), "{printed}");
}
