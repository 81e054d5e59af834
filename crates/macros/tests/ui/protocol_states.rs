//! What can be wrong with states and messages is told at once.

gossamer::protocol! {
    protocol Shop<T> between buyer and seller {
        Wish: buyer { look -> Price, buy(u32) -> Prise, leave -> End },
        Price: seler { price(u32) -> Wish },
        Price: seller { price(u32) -> Wish },
        Thanks: seller { thanks -> End },
        Nothing: buyer {},
        End: buyer { again -> Wish },
        buyer: buyer { look -> Wish, look -> End, Look -> End },
    }
}

gossamer::protocol! {
    protocol Alone between one and one {}
}

fn main() {}
