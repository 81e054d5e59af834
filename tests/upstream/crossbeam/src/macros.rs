//! `select!`: the list form, written as a match.
//!
//! The cases are taken one by one into a list, each with a name for its end that no other has (it comes from another
//! expansion), and its place. Then the ends are bound, outermost the first, so that they live as long as the whole;
//! inside, the list is built, and the body is run that belongs to the chosen place.

/// Waits for one of several operations.
#[macro_export]
macro_rules! select {
    ($($tokens:tt)*) => { $crate::select_internal!(@take new [0] [] [] $($tokens)*) };
}

/// As [`select!`]; of several that can go the first one in the list goes.
#[macro_export]
macro_rules! select_biased {
    ($($tokens:tt)*) => { $crate::select_internal!(@take new_biased [0] [] [] $($tokens)*) };
}

/// The name by which the tests call what both are made of there.
#[doc(hidden)]
#[macro_export]
macro_rules! crossbeam_channel_internal {
    ($($tokens:tt)*) => { $crate::select!($($tokens)*) };
}

/// What both are made of.
#[doc(hidden)]
#[macro_export]
macro_rules! select_internal {
    // A body that is a block needs no comma.
    (@take $new:ident $n:tt $cases:tt $default:tt $name:ident $args:tt $(-> $res:pat)? => $body:block $(, $($rest:tt)*)?) => {
        $crate::select_internal!(@case $new $n $cases $default ($name $args [$($res)?] $body) $($($rest)*)?)
    };
    (@take $new:ident $n:tt $cases:tt $default:tt $name:ident $args:tt $(-> $res:pat)? => $body:block $($rest:tt)+) => {
        $crate::select_internal!(@case $new $n $cases $default ($name $args [$($res)?] $body) $($rest)+)
    };
    (@take $new:ident $n:tt $cases:tt $default:tt $name:ident $args:tt $(-> $res:pat)? => $body:expr $(, $($rest:tt)*)?) => {
        $crate::select_internal!(@case $new $n $cases $default ($name $args [$($res)?] $body) $($($rest)*)?)
    };
    // The word needs no parentheses.
    (@take $new:ident $n:tt $cases:tt $default:tt default => $($rest:tt)+) => {
        $crate::select_internal!(@take $new $n $cases $default default() => $($rest)+)
    };
    (@take $new:ident $n:tt $cases:tt $default:tt) => {
        $crate::select_internal!(@bind $new $cases $cases $default)
    };

    (@case $new:ident [$n:expr] [$($cases:tt)*] $default:tt (recv ($r:expr $(,)?) [$res:pat] $body:expr) $($rest:tt)*) => {
        $crate::select_internal!(@take $new [$n + 1] [$($cases)* (recv end [$n] ($r) () ($res) ($body))] $default $($rest)*)
    };
    (@case $new:ident [$n:expr] [$($cases:tt)*] $default:tt (send ($s:expr, $m:expr $(,)?) [$res:pat] $body:expr) $($rest:tt)*) => {
        $crate::select_internal!(@take $new [$n + 1] [$($cases)* (send end [$n] ($s) (, $m) ($res) ($body))] $default $($rest)*)
    };
    (@case $new:ident $n:tt $cases:tt [] (default ($($limit:expr $(,)?)?) [] $body:expr) $($rest:tt)*) => {
        $crate::select_internal!(@take $new $n $cases [($($limit)?) ($body)] $($rest)*)
    };

    (@bind $new:ident [($kind:ident $end:ident $n:tt ($handle:expr) $m:tt $res:tt $body:tt) $($more:tt)*] $cases:tt $default:tt) => {
        match &$handle {
            $end => $crate::select_internal!(@bind $new [$($more)*] $cases $default),
        }
    };
    (@bind $new:ident [] $cases:tt $default:tt) => {{
        let selected = $crate::select_internal!(@list $new $cases $default);
        $crate::select_internal!(@run selected $cases $default)
    }};

    (@list $new:ident [$(($kind:ident $end:ident $n:tt $handle:tt $m:tt $res:tt $body:tt))*] $default:tt) => {{
        #[allow(unused_mut)]
        let mut list = $crate::Here::$new();
        $(list.$kind($end);)*
        $crate::select_internal!(@choose list $default)
    }};
    (@choose $list:ident []) => { ::core::option::Option::Some($list.select()) };
    (@choose $list:ident [() $body:tt]) => { $list.try_select().ok() };
    (@choose $list:ident [($limit:expr) $body:tt]) => { $list.select_timeout($limit).ok() };

    (@run $selected:ident [$(($kind:ident $end:ident [$n:expr] $handle:tt ($($m:tt)*) ($res:pat) ($body:expr)))*] $default:tt) => {
        match $selected {
            $(::core::option::Option::Some(operation) if operation.index() == $n => {
                match operation.$kind($end $($m)*) {
                    $res => $body,
                }
            })*
            ::core::option::Option::Some(_) => ::core::unreachable!(),
            ::core::option::Option::None => $crate::select_internal!(@default $default),
        }
    };
    (@default []) => { ::core::unreachable!() };
    (@default [$limit:tt ($body:expr)]) => { $body };
}
