//! The command line, `WORKLOAD --option value …`.

/// What was asked for.
#[derive(Debug)]
pub struct Options {
    /// Which workload.
    pub workload: String,
    given: Vec<(String, String)>,
}

impl Options {
    /// Reads the process's own.
    ///
    /// # Errors
    /// An option without a value.
    pub fn read() -> Result<Options, String> {
        let mut words = std::env::args().skip(1);
        let workload = words.next().unwrap_or_default();
        let mut given = Vec::new();
        while let Some(name) = words.next() {
            let value = words.next().ok_or(format!("{name} needs a value"))?;
            given.push((name, value));
        }
        Ok(Options { workload, given })
    }

    /// Refuses options that are not among these.
    ///
    /// # Errors
    /// The first that is not.
    pub fn only(&self, known: &[&str]) -> Result<(), String> {
        let unknown = |(name, _): &&(String, String)| !known.contains(&&**name);
        match self.given.iter().find(unknown) {
            Some((name, _)) => Err(format!("{name} is none of {}", known.join(", "))),
            None => Ok(()),
        }
    }

    /// The text of an option.
    pub fn text<'a>(&'a self, name: &str, usual: &'a str) -> &'a str {
        let given = self.given.iter().find(|(own, _)| own == name);
        given.map_or(usual, |(_, value)| value)
    }

    /// The number of an option, at least 1.
    ///
    /// # Errors
    /// It is none.
    pub fn number(&self, name: &str, usual: u64) -> Result<u64, String> {
        let Some((_, text)) = self.given.iter().find(|(own, _)| own == name) else {
            return Ok(usual);
        };
        match text.parse() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(format!(
                "{name} {text}: expected a whole number of at least 1"
            )),
        }
    }
}
