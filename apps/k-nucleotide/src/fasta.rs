//! Reads one sequence of a FASTA input, in pieces, as codes of two bits.
//!
//! Memory is bounded: at most a buffer's length of input is held. A line that is longer than the buffer comes in
//! pieces.

use std::io::Read;

use crate::error::Error;

/// How much of the input is held at once, in bytes. (Less in tests, so that lines lie across its end.)
const BUFFER: usize = if cfg!(test) { 500 } else { 256 * 1024 };
/// How much of an odd line is shown in an error.
const SHOWN: usize = 40;
/// So many names of sequences are listed in an error.
const NAMES: usize = 5;

/// The nucleotides in the order of their codes.
pub const LETTERS: [u8; 4] = *b"ACGT";
/// What [`CODES`] has for all other bytes.
const NO_CODE: u8 = 0xFF;

/// The code of each letter, in both cases.
const CODES: [u8; 256] = {
    let mut codes = [NO_CODE; 256];
    let mut code = 0;
    while code < LETTERS.len() {
        codes[LETTERS[code] as usize] = code as u8;
        codes[LETTERS[code].to_ascii_lowercase() as usize] = code as u8;
        code += 1;
    }
    codes
};

/// Where the reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Nothing but empty lines and comments has come.
    Start,
    /// In a sequence before the one that was asked for.
    Before,
    /// In the sequence.
    Inside,
    /// Behind the sequence.
    After,
}

/// A part of the input's buffer: a line without its end, or a piece of a long one.
#[derive(Debug, Clone, Copy)]
struct Piece {
    from: usize,
    to: usize,
    /// Whether a line begins with it.
    begins: bool,
}

/// Reads the nucleotides of one sequence.
#[derive(Debug)]
pub struct Sequence<R> {
    input: R,
    file: String,
    name: String,
    place: Place,
    buffer: Vec<u8>,
    /// What of the buffer has not been given out.
    from: usize,
    to: usize,
    /// The line of the last piece, counted from 1, and how much of it came in earlier pieces.
    line: u64,
    column: usize,
    /// How much of the next piece's line has come: nothing if it begins one.
    came: usize,
    /// Whether the last line that began is a header or a comment: so are all pieces of it.
    is_header_or_comment: bool,
    nucleotides: u64,
    /// The names of the first sequences that were passed over, for an error.
    others: Vec<String>,
}

impl<R: Read> Sequence<R> {
    /// Reads the sequence called `name` of this input, whose errors name `file`.
    pub fn new(input: R, file: impl Into<String>, name: impl Into<String>) -> Self {
        Sequence {
            input,
            file: file.into(),
            name: name.into(),
            place: Place::Start,
            buffer: vec![0; BUFFER],
            from: 0,
            to: 0,
            line: 0,
            column: 0,
            came: 0,
            is_header_or_comment: false,
            nucleotides: 0,
            others: Vec::new(),
        }
    }

    /// Appends the codes of the next line of the sequence that has any; `false` at its end.
    ///
    /// # Errors
    /// The input cannot be read, is not FASTA, has no such sequence, or the sequence has something else than
    /// nucleotides, or nothing.
    pub fn next_line(&mut self, codes: &mut Vec<u8>) -> Result<bool, Error> {
        while self.place != Place::After {
            let Some(piece) = self.next_piece()? else {
                self.place = self.ended()?;
                break;
            };
            let Piece { from, to, begins } = piece;
            let first = self.buffer[from..to].first();
            if begins {
                // ';' begins the comments of the oldest FASTA files.
                self.is_header_or_comment = matches!(first, Some(b'>' | b';'));
            }
            match first {
                None => {}
                Some(b'>') if begins => self.place = self.header(from, to)?,
                Some(_) if self.is_header_or_comment => {}
                Some(_) => match self.place {
                    Place::Start => return Err(self.no_header(from, to)),
                    Place::Inside => {
                        self.append(from, to, codes)?;
                        return Ok(true);
                    }
                    Place::Before | Place::After => {}
                },
            }
        }
        Ok(false)
    }

    /// Appends the codes of as many lines as it takes to have at least `least` codes; `false` if none was left.
    ///
    /// # Errors
    /// As [`next_line`](Sequence::next_line).
    pub fn next_block(&mut self, least: usize, codes: &mut Vec<u8>) -> Result<bool, Error> {
        let before = codes.len();
        while codes.len() < least && self.next_line(codes)? {}
        Ok(codes.len() > before)
    }

    /// How many nucleotides have been given out.
    pub fn nucleotides(&self) -> u64 {
        self.nucleotides
    }

    /// The next line or piece of one; `None` at the end of the input.
    fn next_piece(&mut self) -> Result<Option<Piece>, Error> {
        let mut looked = self.from;
        loop {
            let end = memchr::memchr(b'\n', &self.buffer[looked..self.to]);
            if let Some(end) = end.map(|end| looked + end) {
                let piece = self.last_piece(self.from, end);
                self.from = end + 1;
                return Ok(Some(piece));
            }
            if self.from == 0 && self.to == self.buffer.len() {
                // A carriage return stays for the next piece: the line may end there, or go on.
                let returned = self.buffer.ends_with(b"\r");
                self.from = self.to - usize::from(returned);
                return Ok(Some(self.piece(0, self.from)));
            }
            looked = self.to - self.from;
            self.buffer.copy_within(self.from..self.to, 0);
            (self.from, self.to) = (0, looked);
            if !self.fill()? {
                if self.to == 0 {
                    return Ok(None);
                }
                self.from = self.to;
                return Ok(Some(self.last_piece(0, self.to)));
            }
        }
    }

    /// The last piece of a line, less a carriage return at its end.
    fn last_piece(&mut self, from: usize, to: usize) -> Piece {
        let returned = self.buffer[from..to].ends_with(b"\r");
        let piece = self.piece(from, to - usize::from(returned));
        self.came = 0;
        piece
    }

    /// The piece with these bounds; counts lines and columns.
    fn piece(&mut self, from: usize, to: usize) -> Piece {
        let begins = self.came == 0;
        self.line += u64::from(begins);
        self.column = self.came;
        self.came += to - from;
        Piece { from, to, begins }
    }

    /// Reads what comes next behind what is there; `false` at the end of the input.
    fn fill(&mut self) -> Result<bool, Error> {
        loop {
            match self.input.read(&mut self.buffer[self.to..]) {
                Ok(0) => return Ok(false),
                Ok(count) => {
                    self.to += count;
                    return Ok(true);
                }
                Err(cause) if cause.kind() == std::io::ErrorKind::Interrupted => {}
                Err(cause) => {
                    let file = self.file.clone();
                    return Err(Error::Unreadable { file, cause });
                }
            }
        }
    }

    /// Where the reader is behind this header.
    fn header(&mut self, from: usize, to: usize) -> Result<Place, Error> {
        if self.place == Place::Inside {
            return self.ended();
        }
        let words = String::from_utf8_lossy(&self.buffer[from + 1..to]);
        let name = words.split_whitespace().next().unwrap_or_default();
        if name == self.name {
            return Ok(Place::Inside);
        }
        if self.others.len() <= NAMES {
            let name = name.chars().take(SHOWN).collect();
            self.others.push(name);
        }
        Ok(Place::Before)
    }

    fn append(&mut self, from: usize, to: usize, codes: &mut Vec<u8>) -> Result<(), Error> {
        let start = codes.len();
        let letters = &self.buffer[from..to];
        codes.extend(letters.iter().map(|letter| CODES[usize::from(*letter)]));
        // One look at all of them: a code has two bits.
        let all = codes[start..].iter().fold(0, |all, code| all | code);
        if all == NO_CODE {
            let mut letters = letters.iter().zip(1..);
            let odd = letters.find(|(letter, _)| CODES[usize::from(**letter)] == NO_CODE);
            let (letter, column) = odd.unwrap_or((&b'?', 0));
            let (letter, column) = (letter.escape_ascii(), self.column + column);
            let what = format!(
                "'{letter}' in column {column} of the sequence >{} is no nucleotide: expected A, C, G or T, in either case",
                self.name
            );
            return Err(self.unexpected(self.line, what));
        }
        self.nucleotides += (to - from) as u64;
        Ok(())
    }

    /// The end of the input, or of the sequence.
    fn ended(&self) -> Result<Place, Error> {
        let name = &self.name;
        let what = match self.place {
            Place::Start => {
                "the input is empty: expected FASTA, whose first line begins with '>'".into()
            }
            Place::Before => {
                let more = self.others.len() > NAMES;
                let shown = &self.others[..self.others.len().min(NAMES)];
                let (others, more) = (shown.join(", >"), if more { ", …" } else { "" });
                format!(
                    "the input ends without a sequence >{name}; it has >{others}{more}: choose one with --sequence NAME"
                )
            }
            Place::Inside if self.nucleotides == 0 => format!(
                "the sequence >{name} is empty: expected at least one nucleotide below its header"
            ),
            Place::Inside | Place::After => return Ok(Place::After),
        };
        Err(self.unexpected(self.line.max(1), what))
    }

    fn no_header(&self, from: usize, to: usize) -> Error {
        let shown = &self.buffer[from..to.min(from + SHOWN)];
        let more = if to > from + SHOWN { "…" } else { "" };
        let what = format!(
            "\"{}{more}\" is no FASTA header: expected '>' and a name, and nucleotides in the lines below",
            shown.escape_ascii()
        );
        self.unexpected(self.line, what)
    }

    fn unexpected(&self, line: u64, what: String) -> Error {
        let file = self.file.clone();
        Error::Unexpected { file, line, what }
    }
}

#[cfg(test)]
mod tests;
