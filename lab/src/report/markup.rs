//! HTML and SVG as a tree, so that no text and no attribute can be forgotten to escape.

/// An element with its attributes and what is in it.
#[derive(Debug, Clone)]
pub struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Node>,
}

#[derive(Debug, Clone)]
enum Node {
    Element(Element),
    Text(String),
    Raw(String),
}

/// Elements of HTML that have no end tag.
const VOID: [&str; 4] = ["meta", "input", "br", "wbr"];

/// An empty element.
#[must_use]
pub fn el(name: &'static str) -> Element {
    Element {
        name,
        attributes: Vec::new(),
        children: Vec::new(),
    }
}

/// An element of some text.
#[must_use]
pub fn text(name: &'static str, text: impl Into<String>) -> Element {
    el(name).text(text)
}

impl Element {
    /// Adds an attribute.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Element {
        self.attributes.push((name, value.to_string()));
        self
    }

    /// Sets the classes.
    #[must_use]
    pub fn class(self, names: impl ToString) -> Element {
        self.with("class", names)
    }

    /// Adds text, which is escaped.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Element {
        self.children.push(Node::Text(text.into()));
        self
    }

    /// Adds text as it is: only for the page's own style, script and data.
    #[must_use]
    pub fn raw(mut self, text: impl Into<String>) -> Element {
        self.children.push(Node::Raw(text.into()));
        self
    }

    /// Adds an element.
    #[must_use]
    pub fn child(mut self, child: Element) -> Element {
        self.children.push(Node::Element(child));
        self
    }

    /// Adds elements, or none.
    #[must_use]
    pub fn children(mut self, children: impl IntoIterator<Item = Element>) -> Element {
        let children = children.into_iter().map(Node::Element);
        self.children.extend(children);
        self
    }

    /// The element as text.
    #[must_use]
    pub fn render(&self) -> String {
        let mut page = String::new();
        self.push_to(&mut page);
        page
    }

    fn push_to(&self, page: &mut String) {
        page.push('<');
        page.push_str(self.name);
        for (name, value) in &self.attributes {
            page.push(' ');
            page.push_str(name);
            page.push_str("=\"");
            page.push_str(&escape(value));
            page.push('"');
        }
        page.push('>');
        if VOID.contains(&self.name) {
            return;
        }
        for child in &self.children {
            match child {
                Node::Element(element) => element.push_to(page),
                Node::Text(text) => page.push_str(&escape(text)),
                Node::Raw(text) => page.push_str(text),
            }
        }
        page.push_str("</");
        page.push_str(self.name);
        page.push('>');
        if matches!(
            self.name,
            "tr" | "g" | "table" | "section" | "p" | "svg" | "div"
        ) {
            page.push('\n');
        }
    }
}

/// Text in which nothing is markup.
#[must_use]
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
