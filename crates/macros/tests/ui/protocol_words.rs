//! The words of a protocol, left out one at a time.

gossamer::protocol! {
    Say between one and other { Word: one { word -> End } }
}

gossamer::protocol! {
    protocol Say { Word: one { word -> End } }
}

gossamer::protocol! {
    protocol Say between one, other { Word: one { word -> End } }
}

gossamer::protocol! {
    protocol Say between one and other { Word { word -> End } }
}

gossamer::protocol! {
    protocol Say between one and other { Word: one { word } }
}

gossamer::protocol! {
    protocol Say<T: Clone> between one and other { Word: one { word(T) -> End } }
}

gossamer::protocol! {
    protocol Say between one and other { Word: one { word -> End } }
    protocol Ask between one and other { Word: one { word -> End } }
}

fn main() {}
