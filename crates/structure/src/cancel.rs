//! Cancellation tokens: a word that is passed down a tree, once.
//!
//! All tokens that descend from one share a [`Tree`]: one lock, and the nodes in one vector, linked by their numbers.
//! A node with no token left (all clones dropped) cannot be cancelled on its own any more. It goes when it has no child
//! left, and when it has one, that one takes its place; so at most half of the nodes are such, and a chain of children
//! whose parents are dropped stays short. Nothing here recurses, and a dropped child leaves nothing behind.
//!
//! Cancelling marks the whole subtree under the lock and takes it out of the tree; then, without it, wakes who waits.

use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use gossamer_core::platform::Mutex;
use gossamer_core::platform::atomic::{AtomicBool, Ordering};

use gossamer_core::policy::Shared;
use gossamer_core::{context, mutant};
use gossamer_sync::raw::Ready;
use gossamer_sync::sync::Event;
use pin_project_lite::pin_project;

/// Says to those who have it that they are to stop; they look, or wait for it.
///
/// Clones are the same token. A [`child`](CancellationToken::child) is cancelled with its parent, and not the other way
/// round.
///
/// # Examples
/// ```
/// use gossamer::Wait;
/// use gossamer::CancellationToken;
///
/// let (all, other) = (CancellationToken::new(), CancellationToken::new());
/// let one = all.child();
/// all.cancel();
/// one.cancelled().wait();
/// assert!(one.is_cancelled() && !other.is_cancelled());
/// assert_eq!(one.run_until_cancelled(async { 1 }).wait(), None);
/// assert_eq!(other.run_until_cancelled(async { 1 }).wait(), Some(1));
/// ```
#[derive(Clone)]
pub struct CancellationToken {
    token: Arc<Token>,
}

/// One token, shared by its clones.
struct Token {
    tree: Arc<Mutex<Tree>>,
    number: usize,
    cancelled: AtomicBool,
    /// Set soon after: who waits is woken without the tree's lock.
    told: Event,
}

/// No node.
const NONE: usize = usize::MAX;

/// The nodes of all tokens that descend from one.
#[derive(Default)]
struct Tree {
    nodes: Vec<Node>,
    free: Vec<usize>,
}

/// A token, or what is left of one that has children.
struct Node {
    token: Weak<Token>,
    /// Whether there is a token.
    alive: bool,
    parent: usize,
    first_child: usize,
    before: usize,
    after: usize,
}

impl Tree {
    fn add(&mut self, parent: usize) -> usize {
        let node = Node {
            token: Weak::new(),
            alive: true,
            parent: NONE,
            first_child: NONE,
            before: NONE,
            after: NONE,
        };
        let number = match self.free.pop() {
            Some(number) => {
                self.nodes[number] = node;
                number
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() - 1
            }
        };
        self.link(number, parent);
        number
    }

    fn link(&mut self, number: usize, parent: usize) {
        self.nodes[number].parent = parent;
        self.nodes[number].before = NONE;
        self.nodes[number].after = NONE;
        if parent == NONE {
            return;
        }
        let first = mem::replace(&mut self.nodes[parent].first_child, number);
        self.nodes[number].after = first;
        if first != NONE {
            self.nodes[first].before = number;
        }
    }

    /// Takes a node out of its parent's children; gives the parent.
    fn unlink(&mut self, number: usize) -> usize {
        // It may be here again, when its token is gone: with no neighbours then.
        let node = &mut self.nodes[number];
        let parent = mem::replace(&mut node.parent, NONE);
        let (before, after) = (node.before, node.after);
        if !gossamer_core::mutant!("token_keeps_neighbours") {
            (node.before, node.after) = (NONE, NONE);
        }
        if before != NONE {
            self.nodes[before].after = after;
        } else if parent != NONE {
            self.nodes[parent].first_child = after;
        }
        if after != NONE {
            self.nodes[after].before = before;
        }
        parent
    }

    /// The last clone of a token is gone.
    fn let_go(&mut self, number: usize) {
        self.nodes[number].alive = false;
        let parent = self.shrink(number);
        // It has a child less, and perhaps no token.
        if parent != NONE {
            self.shrink(parent);
        }
    }

    /// A node is of no use any more.
    fn give_up(&mut self, number: usize) {
        self.nodes[number].token = Weak::new();
        self.free.push(number);
    }

    /// Takes a node without a token out that has no more than one child, which takes its place; gives its parent, if
    /// that has a child less now.
    fn shrink(&mut self, number: usize) -> usize {
        let child = self.nodes[number].first_child;
        let alone = child == NONE || self.nodes[child].after == NONE;
        if self.nodes[number].alive || !alone || gossamer_core::mutant!("token_nodes_stay") {
            return NONE;
        }
        let parent = self.unlink(number);
        self.give_up(number);
        if child == NONE {
            return parent;
        }
        self.unlink(child);
        self.link(child, parent);
        NONE
    }

    /// Takes a node and all below it out of the tree; gives their tokens.
    fn take_all(&mut self, number: usize) -> Vec<Arc<Token>> {
        let parent = self.unlink(number);
        if parent != NONE {
            self.shrink(parent);
        }
        let (mut tokens, mut left) = (Vec::new(), vec![number]);
        while let Some(number) = left.pop() {
            let node = &mut self.nodes[number];
            if let Some(token) = node.token.upgrade() {
                // Release pairs with the acquire in `is_cancelled`. Under the tree's lock, so that a call that
                // finds it cancelled, and returns, leaves no child that is not.
                token.cancelled.store(true, Ordering::Release);
                tokens.push(token);
            }
            let mut child = mem::replace(&mut node.first_child, NONE);
            if !node.alive {
                // The token is gone, so no drop of it will take the node out.
                self.give_up(number);
            }
            if gossamer_core::mutant!("cancel_spares_children") {
                child = NONE;
            }
            while child != NONE {
                left.push(child);
                let node = &mut self.nodes[child];
                node.parent = NONE;
                node.before = NONE;
                child = mem::replace(&mut node.after, NONE);
            }
        }
        tokens
    }
}

impl CancellationToken {
    /// A token without a parent.
    #[must_use]
    pub fn new() -> Self {
        let tree = Arc::new(Mutex::new(Tree::default()));
        let mut nodes = tree.lock();
        Self::below(&tree, &mut nodes, NONE)
    }

    /// A new token below this one of the tree, whose lock is held.
    fn below(tree: &Arc<Mutex<Tree>>, nodes: &mut Tree, parent: usize) -> Self {
        let number = nodes.add(parent);
        let token = Arc::new(Token {
            tree: tree.clone(),
            number,
            cancelled: AtomicBool::new(false),
            told: Event::new(),
        });
        nodes.nodes[number].token = Arc::downgrade(&token);
        Self { token }
    }

    /// A token that is cancelled when this one is: at once, if it has been.
    #[must_use]
    pub fn child(&self) -> Self {
        let tree = self.token.tree.clone();
        let looked_first = gossamer_core::mutant!("child_looks_first") && !self.is_cancelled();
        let mut nodes = tree.lock();
        if self.is_cancelled() && !looked_first {
            drop(nodes);
            // A tree of its own: nobody above it is left to say anything.
            let child = Self::new();
            child.cancel();
            return child;
        }
        Self::below(&tree, &mut nodes, self.token.number)
    }

    /// Cancels this token, its clones, its children, and theirs. Says nothing new the second time.
    ///
    /// When it returns, all of them are cancelled. Those who wait are woken by the one who was first; a foreign waker
    /// that panics harms nobody.
    pub fn cancel(&self) {
        let tokens = {
            let mut tree = self.token.tree.lock();
            // Under the lock: the first caller marks this token before those below it.
            if self.is_cancelled() {
                return;
            }
            tree.take_all(self.token.number)
        };
        for token in &tokens {
            token.told.set();
        }
        // One that has gone meanwhile leaves the tree here: without its lock.
        drop(tokens);
    }

    /// Whether it has been cancelled, or a parent of it.
    #[inline]
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        // Acquire pairs with the release in `take_all`: what the one who cancelled did before is seen.
        self.token.cancelled.load(Ordering::Acquire)
    }

    /// Waits until it is cancelled.
    ///
    /// # Blocking
    /// `.await` in a task, `.wait()` in a fiber or thread.
    ///
    /// # Cancellation
    /// Has no effect to be undone.
    #[track_caller]
    pub fn cancelled(&self) -> WaitForCancel<'_> {
        WaitForCancel {
            told: self.token.told.ready(),
            token: self,
        }
    }

    /// As [`cancelled`](CancellationToken::cancelled), for what outlives the borrow: it has the token.
    ///
    /// # Examples
    /// ```
    /// use gossamer::CancellationToken;
    ///
    /// #[gossamer::main]
    /// async fn main() {
    ///     let token = CancellationToken::new();
    ///     let told = gossamer::spawn(token.clone().cancelled_owned());
    ///     token.cancel();
    ///     told.await.unwrap();
    /// }
    /// ```
    pub fn cancelled_owned(self) -> WaitForCancelOwned {
        WaitForCancelOwned(Box::pin(async move { self.cancelled().await }))
    }

    /// Runs a future until the token is cancelled: `None` then. The future is dropped with this one, not before.
    ///
    /// The token is asked first, so nothing is done for one that is cancelled.
    ///
    /// # Cancellation
    /// Dropped unfinished, it drops the future. It gives `None` also if a receiver has taken the message of a `send` over
    /// a rendezvous channel in the moment in which the token was cancelled: a `select!` of the `send` and
    /// [`cancelled`](CancellationToken::cancelled) takes one of the two.
    #[track_caller]
    pub fn run_until_cancelled<F: IntoFuture>(
        &self,
        future: F,
    ) -> RunUntilCancelled<'_, F::IntoFuture> {
        RunUntilCancelled {
            cancelled: self.cancelled(),
            future: future.into_future(),
        }
    }

    /// Cancels the token when what this gives is dropped: on return, on a panic, on an abort.
    pub fn drop_guard(self) -> CancelOnDrop {
        CancelOnDrop(Some(self))
    }

    /// How many nodes the tree has: for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn nodes(&self) -> usize {
        let tree = self.token.tree.lock();
        tree.nodes.len() - tree.free.len()
    }
}

impl Default for CancellationToken {
    fn default() -> Self {
        Self::new()
    }
}

gossamer_core::impl_debug!([] CancellationToken[], this => is_cancelled: this.is_cancelled());

impl Drop for Token {
    fn drop(&mut self) {
        self.tree.lock().let_go(self.number);
    }
}

pin_project! {
    /// [`CancellationToken::cancelled`].
    #[derive(Debug)]
    #[must_use = "operations do nothing until they are awaited or waited for"]
    pub struct WaitForCancel<'a> {
        #[pin]
        told: Ready<'a, Shared>,
        token: &'a CancellationToken,
    }
}

impl Future for WaitForCancel<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        let yielded = context::yields_so_far();
        let told = this.told.poll(cx);
        let yielded = context::yields_so_far() != yielded;
        // `cancel` marks all tokens first and then tells them one by one, so this one may be marked before it is told.
        if this.token.is_cancelled() && (!yielded || mutant!("cancelled_never_yields")) {
            return Poll::Ready(());
        }
        told
    }
}

/// [`CancellationToken::cancelled_owned`].
#[must_use = "operations do nothing until they are awaited or waited for"]
pub struct WaitForCancelOwned(Pin<Box<dyn Future<Output = ()> + Send + Sync>>);

impl Future for WaitForCancelOwned {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

gossamer_core::impl_debug!([] WaitForCancelOwned[]);

pin_project! {
    /// [`CancellationToken::run_until_cancelled`].
    #[derive(Debug)]
    #[must_use = "operations do nothing until they are awaited or waited for"]
    pub struct RunUntilCancelled<'a, F> {
        #[pin]
        cancelled: WaitForCancel<'a>,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for RunUntilCancelled<'_, F> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let yielded = context::yields_so_far();
        if this.cancelled.poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        // The token is asked when it has had its turn, and the future after it.
        if context::yields_so_far() != yielded && !mutant!("run_goes_on") {
            return Poll::Pending;
        }
        this.future.poll(cx).map(Some)
    }
}

/// Cancels a token when it is dropped: [`CancellationToken::drop_guard`].
#[derive(Debug)]
#[must_use = "dropping the guard cancels its token"]
pub struct CancelOnDrop(Option<CancellationToken>);

impl CancelOnDrop {
    /// The token back, not to be cancelled by this.
    pub fn disarm(mut self) -> CancellationToken {
        self.0.take().expect("it has the token until it is dropped")
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(token) = self.0.take() {
            token.cancel();
        }
    }
}
