//! Names from which no other names can be made, and names that mean something else.

pub struct Word;

gossamer::protocol! {
    protocol Super between one and other { Word: one { word -> End } }
}

gossamer::protocol! {
    protocol Say between one and other { Spoken: one { __ -> Spoken, _1 -> Spoken, self_ -> End } }
}

gossamer::protocol! {
    protocol Say between one and other { Word: one { word(Vec<Word>) -> End, good(super::Word) -> End } }
}

gossamer::protocol! {
    protocol Say<Word> between one and other { Word: one { word(Word) -> End } }
}

gossamer::protocol! {
    protocol Say between one and other { Word: one { word(fn(word: Word)) -> End, _·x -> End } }
}

fn main() {}
