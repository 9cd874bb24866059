//! One page of the browser, as a reader uses it: eyes, mouse, keyboard, and the accessibility tree.

use std::{collections::HashMap, path::Path, time::Instant};

use base64::Engine as _;
use serde_json::{Value, json};

use crate::browser::{Browser, Session};
use crate::{LOOK, PATIENCE};

/// A page. What goes wrong in it is collected, see [`Page::problems`].
pub struct Page {
    session: Session,
}

/// A node of the accessibility tree that assistive technology sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The role, as in ARIA.
    pub role: String,
    /// The accessible name.
    pub name: String,
    /// Level of a heading; 0 for others.
    pub level: u64,
    /// Whether the keyboard reaches it.
    pub focusable: bool,
    /// Politeness of a live region; empty for others.
    pub live: String,
}

/// A key of the keyboard: its name, its code, its text if it has one.
const KEYS: [(&str, i64, &str); 10] = [
    ("/", 191, "/"),
    ("Backspace", 8, ""),
    ("Tab", 9, ""),
    ("Enter", 13, "\r"),
    ("Escape", 27, ""),
    (" ", 32, " "),
    ("End", 35, ""),
    ("Home", 36, ""),
    ("ArrowRight", 39, ""),
    ("ArrowDown", 40, ""),
];

impl Page {
    /// A new page in a context of its own: nothing is shared with another page, neither storage nor cache.
    #[track_caller]
    pub fn new(browser: &Browser) -> Self {
        let all = browser.session(None);
        let context = all.call("Target.createBrowserContext", json!({"disposeOnDetach": true}));
        let target = all.call(
            "Target.createTarget",
            json!({"url": "about:blank", "browserContextId": context["browserContextId"]}),
        );
        let attached =
            all.call("Target.attachToTarget", json!({"targetId": target["targetId"], "flatten": true}));
        Self::enabled(browser.session(Some(attached["sessionId"].as_str().unwrap().to_owned())))
    }

    fn enabled(session: Session) -> Self {
        for domain in ["Page", "Runtime", "Log", "Network", "DOM", "Accessibility", "Audits"] {
            session.call(&format!("{domain}.enable"), json!({}));
        }
        // A page of a headless browser is not in front, and would not know of its focus.
        session.call("Emulation.setFocusEmulationEnabled", json!({"enabled": true}));
        let page = Self { session };
        page.size(1280, 900);
        page
    }

    /// A raw call of the protocol.
    #[track_caller]
    pub fn call(&self, method: &str, params: Value) -> Value {
        self.session.call(method, params)
    }

    /// Goes to an address and waits until the document is loaded.
    #[track_caller]
    pub fn open(&self, url: &str) {
        let answer = self.call("Page.navigate", json!({"url": url}));
        assert!(answer.get("errorText").is_none(), "{url}: {answer}");
        self.until(&format!("{url} is loaded"), "document.readyState === 'complete'");
    }

    /// Loads the page anew.
    #[track_caller]
    pub fn reload(&self) {
        self.eval("window.zx1Old = true");
        self.call("Page.reload", json!({}));
        self.until("the page is loaded anew", "!window.zx1Old && document.readyState === 'complete'");
    }

    /// The value of an expression, awaited.
    #[track_caller]
    pub fn eval(&self, expression: &str) -> Value {
        self.try_eval(expression).unwrap_or_else(|why| panic!("{expression}: {why}"))
    }

    fn try_eval(&self, expression: &str) -> Result<Value, String> {
        let mut answer = self.session.try_call(
            "Runtime.evaluate",
            json!({"expression": expression, "awaitPromise": true, "returnByValue": true,
                   "userGesture": true}),
        )?;
        match answer.get("exceptionDetails") {
            Some(why) => Err(why["exception"]["description"].as_str().unwrap_or("it threw").to_owned()),
            None => Ok(answer["result"]["value"].take()),
        }
    }

    /// The value of an expression that is a text.
    #[track_caller]
    pub fn text(&self, expression: &str) -> String {
        let value = self.eval(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression} is not a string but {value}")).to_owned()
    }

    /// Waits until an expression is true (and not undefined, "" or 0), and returns its value. Panics after a
    /// minute, with what the page shows.
    #[track_caller]
    pub fn until(&self, what: &str, expression: &str) -> Value {
        let deadline = Instant::now() + PATIENCE;
        // While a page is being replaced there is nowhere to evaluate.
        let mut last;
        loop {
            match self.try_eval(expression) {
                Ok(value) if is_true(&value) => return value,
                Ok(value) => last = value.to_string(),
                Err(why) => last = why,
            }
            assert!(
                Instant::now() < deadline,
                "waited in vain until {what}: {expression} is {last}\n{}\n{}",
                self.shown(),
                self.problems().join("\n")
            );
            std::thread::sleep(LOOK);
        }
    }

    /// Waits until the main part of the page holds a text.
    #[track_caller]
    pub fn until_text(&self, text: &str) {
        let wanted = json!(text);
        let expression = format!("document.getElementById('main').innerText.includes({wanted})");
        self.until(&format!("the page says '{text}'"), &expression);
    }

    /// Waits until every call of the page is answered and drawn.
    #[track_caller]
    pub fn settled(&self) {
        self.until(
            "nothing loads",
            "document.querySelector('#main h1') !== null \
             && document.querySelector('#main [aria-busy], #main .skeleton, #main progress, #main .waiting') \
             === null",
        );
    }

    /// What a reader sees of the page.
    pub fn shown(&self) -> String {
        match self.try_eval("location.hash + '\\n' + document.body.innerText") {
            Ok(value) => value.as_str().unwrap_or_default().to_owned(),
            Err(why) => why,
        }
    }

    /// Sets the size of the window in CSS pixels.
    #[track_caller]
    pub fn size(&self, width: u32, height: u32) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}),
        );
    }

    /// Sets preferences of the reader's system, such as `prefers-color-scheme`.
    #[track_caller]
    pub fn prefers(&self, features: &[(&str, &str)]) {
        let features: Vec<Value> =
            features.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// Cuts the page off from the network, or connects it again.
    #[track_caller]
    pub fn offline(&self, offline: bool) {
        self.call(
            "Network.emulateNetworkConditions",
            json!({"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}),
        );
    }

    /// Clicks with the mouse in the middle of the first element that matches, after it was scrolled to.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        let wanted = json!(selector);
        // What is under way may be drawn anew meanwhile, or still covered.
        let place = self.until(
            &format!("{selector} can be clicked"),
            &format!(
                "(() => {{ const e = document.querySelector({wanted}); if (!e) return null; \
                 e.scrollIntoView({{block: 'center', behavior: 'instant'}}); \
                 const r = e.getClientRects()[0]; if (!r) return null; \
                 const x = r.x + r.width / 2, y = r.y + r.height / 2; \
                 const hit = document.elementFromPoint(x, y); \
                 return e === hit || e.contains(hit) ? [x, y] : null; }})()"
            ),
        );
        let (x, y) = (&place[0], &place[1]);
        self.call("Input.dispatchMouseEvent", json!({"type": "mouseMoved", "x": x, "y": y}));
        for kind in ["mousePressed", "mouseReleased"] {
            self.call(
                "Input.dispatchMouseEvent",
                json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}),
            );
        }
    }

    /// Moves the mouse away from everything.
    #[track_caller]
    pub fn mouse_away(&self) {
        self.call("Input.dispatchMouseEvent", json!({"type": "mouseMoved", "x": 1, "y": 1}));
    }

    /// Presses a key of [`KEYS`].
    #[track_caller]
    pub fn press(&self, key: &str) {
        self.press_with(key, 0);
    }

    /// Presses Shift and a key.
    #[track_caller]
    pub fn press_shift(&self, key: &str) {
        self.press_with(key, 8);
    }

    #[track_caller]
    fn press_with(&self, key: &str, modifiers: u8) {
        let (_, code, text) = KEYS.iter().find(|(name, ..)| *name == key).expect("a known key");
        let name = if key == " " { "Space" } else { key };
        let mut down = json!({"type": "rawKeyDown", "key": key, "code": name, "modifiers": modifiers,
                              "windowsVirtualKeyCode": code});
        if !text.is_empty() {
            down["type"] = json!("keyDown");
            down["text"] = json!(text);
        }
        self.call("Input.dispatchKeyEvent", down);
        self.call(
            "Input.dispatchKeyEvent",
            json!({"type": "keyUp", "key": key, "code": name, "modifiers": modifiers,
                   "windowsVirtualKeyCode": code}),
        );
    }

    /// Types a text where the focus is.
    #[track_caller]
    pub fn type_text(&self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
    }

    /// Presses Tab until an element that matches has the focus. Panics when the focus comes round without.
    #[track_caller]
    pub fn tab_to(&self, selector: &str) {
        let wanted = json!(selector);
        for _ in 0..200 {
            self.press("Tab");
            let there = format!("document.activeElement?.matches({wanted}) ?? false");
            if self.eval(&there) == json!(true) {
                return;
            }
        }
        panic!("Tab does not reach {selector}:\n{}", self.shown());
    }

    /// What has the focus, for messages and comparisons: its text or its label.
    #[track_caller]
    pub fn focused(&self) -> String {
        self.text(
            "(() => { const e = document.activeElement; return e === null || e === document.body ? '' : \
             (e.getAttribute('aria-label') ?? (e.innerText || e.id || e.tagName)).trim(); })()",
        )
    }

    /// Puts a file into a file field, as the chooser does.
    #[track_caller]
    pub fn choose_file(&self, selector: &str, file: &Path) {
        let document = self.call("DOM.getDocument", json!({"depth": 0}));
        let node = self
            .call("DOM.querySelector", json!({"nodeId": document["root"]["nodeId"], "selector": selector}));
        self.call("DOM.setFileInputFiles", json!({"nodeId": node["nodeId"], "files": [file]}));
    }

    /// Drags a file from outside over the page and drops it there.
    #[track_caller]
    pub fn drop_file(&self, x: f64, y: f64, file: &Path) {
        let data = json!({"items": [], "files": [file], "dragOperationsMask": 1});
        for kind in ["dragEnter", "dragOver", "drop"] {
            self.call("Input.dispatchDragEvent", json!({"type": kind, "x": x, "y": y, "data": data}));
        }
    }

    /// A picture of the whole page as PNG.
    #[track_caller]
    pub fn picture(&self) -> Vec<u8> {
        // The window becomes as high as the page, so that what is fixed to its edge is not in the middle.
        let sizes = self.eval("[innerWidth, innerHeight, document.documentElement.scrollHeight]");
        let [width, height, whole] = [0, 1, 2].map(|at| sizes[at].as_u64().unwrap() as u32);
        self.size(width, whole.max(height));
        let answer = self.call("Page.captureScreenshot", json!({"format": "png"}));
        self.size(width, height);
        base64::engine::general_purpose::STANDARD.decode(answer["data"].as_str().unwrap()).unwrap()
    }

    /// What assistive technology sees of the page, in the order of the document.
    #[track_caller]
    pub fn accessibility(&self) -> Vec<Seen> {
        let answer = self.call("Accessibility.getFullAXTree", json!({}));
        let nodes = answer["nodes"].as_array().unwrap();
        let by_id: HashMap<&str, &Value> =
            nodes.iter().map(|node| (node["nodeId"].as_str().unwrap(), node)).collect();
        // The answer goes level by level.
        let (mut tree, mut next) = (Vec::new(), vec![&nodes[0]]);
        while let Some(node) = next.pop() {
            if node["ignored"] != json!(true) {
                tree.push(seen(node));
            }
            let children = node["childIds"].as_array().into_iter().flatten().rev();
            next.extend(children.filter_map(|id| by_id.get(id.as_str()?).copied()));
        }
        tree
    }

    /// Asserts that axe finds no violation in the page as it is now.
    #[track_caller]
    pub fn axe(&self, where_: &str) {
        if self.eval("typeof window.axe") != json!("object") {
            // By the protocol: the page's own policy lets no foreign script in.
            self.eval(&format!("void (() => {{ {} }})()", crate::axe()));
        }
        let found = self.eval(
            "window.axe.run(document, {resultTypes: ['violations']}).then((it) => it.violations.map((one) => \
             `${one.id}: ${one.help}: ${one.nodes.slice(0, 4).map((node) => node.html.slice(0, 200)).join(' | ')}`))",
        );
        assert_eq!(found, json!([]), "{where_}");
    }

    /// The addresses that the page has asked for so far, the oldest first.
    pub fn asked(&self) -> Vec<String> {
        let events = self.session.events();
        let asked = events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        asked.filter_map(|event| Some(event["params"]["request"]["url"].as_str()?.to_owned())).collect()
    }

    /// Everything that went wrong in the page so far: errors and warnings of the console, exceptions,
    /// violations of the content security policy, failed or refused calls, dialogs.
    pub fn problems(&self) -> Vec<String> {
        self.session.events().iter().filter_map(problem).collect()
    }

    /// Asserts that nothing went wrong.
    #[track_caller]
    pub fn assert_clean(&self, where_: &str) {
        let problems = self.problems();
        assert!(problems.is_empty(), "{where_}:\n{}", problems.join("\n"));
    }
}

fn is_true(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false)) && value != &json!("") && value != &json!(0)
}

fn seen(node: &Value) -> Seen {
    let text = |value: &Value| value["value"].as_str().unwrap_or_default().to_owned();
    let property = |name: &str| {
        let all = node["properties"].as_array();
        all.and_then(|all| all.iter().find(|one| one["name"] == name)).map(|one| &one["value"]["value"])
    };
    Seen {
        role: text(&node["role"]),
        name: text(&node["name"]),
        level: property("level").and_then(Value::as_u64).unwrap_or(0),
        focusable: property("focusable") == Some(&json!(true)),
        live: property("live").and_then(Value::as_str).unwrap_or_default().to_owned(),
    }
}

/// The event in a sentence, if it tells of something wrong.
fn problem(event: &Value) -> Option<String> {
    let params = &event["params"];
    match event["method"].as_str()? {
        "Runtime.consoleAPICalled" => {
            let kind = params["type"].as_str()?;
            ["error", "warning", "assert"]
                .contains(&kind)
                .then(|| format!("console.{kind}: {}", params["args"]))
        }
        "Runtime.exceptionThrown" => Some(format!("exception: {}", params["exceptionDetails"])),
        "Log.entryAdded" => {
            let entry = &params["entry"];
            let level = entry["level"].as_str()?;
            ["error", "warning"]
                .contains(&level)
                .then(|| format!("{level} of {}: {} {}", entry["source"], entry["text"], entry["url"]))
        }
        "Audits.issueAdded" => {
            let code = params["issue"]["code"].as_str()?;
            // Others are advice on forms, cookies and performance.
            (code == "ContentSecurityPolicyIssue").then(|| format!("policy: {}", params["issue"]["details"]))
        }
        "Network.loadingFailed" if params["canceled"] != json!(true) => {
            Some(format!("a call failed: {} {}", params["errorText"], params["blockedReason"]))
        }
        "Network.responseReceived" => {
            let answer = &params["response"];
            (answer["status"].as_u64()? >= 400).then(|| format!("{}: {}", answer["status"], answer["url"]))
        }
        "Network.requestWillBeSent" => {
            let url = params["request"]["url"].as_str()?;
            let own =
                ["http://127.0.0.1:", "about:", "data:", "blob:"].iter().any(|own| url.starts_with(own));
            (!own).then(|| format!("a call to somebody else: {url}"))
        }
        "Page.javascriptDialogOpening" => Some(format!("a dialog: {}", params["message"])),
        "Inspector.targetCrashed" => Some("the page crashed".to_owned()),
        _ => None,
    }
}
