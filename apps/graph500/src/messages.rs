//! The search without shared memory: each vertex has an owner, and whoever finds it tells the owner by a message.
//!
//! An owner is a task that alone knows the parents of its vertices. It has a scanner, a task that goes over the
//! frontier's neighbours and sends each, with the vertex it was found from, to the neighbour's owner, `batch` of
//! these a message. A scanner remembers what it has sent, and sends no vertex twice; all others go by message, those
//! of its own owner too. An owner only receives while its level lasts and a scanner only sends, so no two can wait
//! for each other, however few messages fit into a channel.
//!
//! When a scanner is through it tells all owners so, and an owner that has heard it of all scanners gives its own
//! scanner the next frontier. So one scanner may be a level ahead of another; an owner keeps what comes too early.
//! Nothing was found when all scanners had an empty frontier.

mod by_channel;
mod by_pipe;

use std::sync::Arc;

use gossamer::{JoinHandle, Runtime, Wait};

use crate::generator::Edge;
use crate::graph::Graph;
use crate::search::{NONE, Search};

use by_channel::ByChannel;
use by_pipe::ByPipe;

/// How many neighbours a scanner looks at before it lets other tasks run: a fraction of a millisecond. Late in a search
/// nearly all have been sent, and it would not wait for long.
const SCANNED_MAX: usize = 1 << 16;

/// What messages go over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Over {
    /// A bounded channel: one for all that send to a task, or for one message in `futures`.
    Channel,
    /// A pipe from each task to each, or one for each future in `futures`.
    Pipe,
}

/// What tasks tell each other.
#[derive(Debug)]
enum Message {
    /// The vertices of its owner that its scanner begins with.
    Frontier(Vec<u32>),
    /// A vertex, and what it was found from.
    Edge(Edge),
    /// Several of these.
    Batch(Vec<Edge>),
    /// The scanner is through with its level, and had a frontier of so many vertices.
    End(usize),
}

/// A message, and whether its level is an odd one.
type Letter = (bool, Message);

/// How messages get from one task to another. Nobody goes before the search ends, so nothing is said of closed ends.
trait Post: 'static {
    type Tx: Send + 'static;
    type Rx: Send + 'static;

    /// An inbox, and what so many others send to it with.
    fn inbox(senders: usize) -> (Vec<Self::Tx>, Self::Rx);

    fn send(to: &mut Self::Tx, letter: Letter) -> impl Future<Output = ()> + Send;

    /// `None` if all that send have gone.
    fn receive(from: &mut Self::Rx) -> impl Future<Output = Option<Letter>> + Send;
}

/// Which vertices an owner has: a part of their numbers, which say nothing about the graph.
#[derive(Debug, Clone, Copy)]
struct Owners {
    count: usize,
    /// The vertices, or more, as a power of two.
    bits: u32,
    vertices: usize,
}

impl Owners {
    fn new(count: usize, vertices: usize) -> Self {
        let bits = vertices.next_power_of_two().trailing_zeros();
        Self {
            count,
            bits,
            vertices,
        }
    }

    fn of(self, vertex: u32) -> usize {
        (vertex as usize * self.count) >> self.bits
    }

    fn first(self, owner: usize) -> usize {
        (owner << self.bits).div_ceil(self.count).min(self.vertices)
    }

    fn range(self, owner: usize) -> std::ops::Range<usize> {
        self.first(owner)..self.first(owner + 1)
    }
}

/// A search by messages.
#[derive(Debug)]
pub struct Messages<'r> {
    graph: Arc<Graph>,
    runtime: &'r Runtime,
    batch: usize,
    over: Over,
    owners: Owners,
    /// Those of each owner.
    parents: Vec<Vec<u32>>,
}

impl<'r> Messages<'r> {
    /// Of this graph, by so many owners.
    #[must_use]
    pub fn new(
        graph: Arc<Graph>,
        runtime: &'r Runtime,
        owners: usize,
        batch: usize,
        over: Over,
    ) -> Self {
        let owners = Owners::new(owners, graph.vertices());
        let mut search = Self {
            graph,
            runtime,
            batch,
            over,
            owners,
            parents: Vec::new(),
        };
        search.clear();
        search
    }

    fn spawn<P: Post>(&mut self, root: u32) -> Vec<JoinHandle<Vec<u32>>> {
        let owners = self.owners;
        // What each scanner sends to: one end for each owner.
        let mut ends: Vec<Vec<P::Tx>> = (0..owners.count).map(|_| Vec::new()).collect();
        let mut inboxes = Vec::new();
        for _ in 0..owners.count {
            let (senders, inbox) = P::inbox(owners.count);
            ends.iter_mut()
                .zip(senders)
                .for_each(|(ends, end)| ends.push(end));
            inboxes.push(inbox);
        }
        let parents = std::mem::take(&mut self.parents);
        let tasks = parents.into_iter().zip(inboxes).zip(ends).enumerate();
        let spawned = tasks.map(|(index, ((parents, inbox), to))| {
            let (mut frontiers, scanned) = P::inbox(1);
            let frontier = frontiers.pop().expect("one was asked for");
            let scanner = Scanner::<P> {
                graph: self.graph.clone(),
                owners,
                batch: self.batch,
                to,
                sent: Vec::new(),
            };
            drop(self.runtime.spawn(scanner.run(scanned)));
            let owner = Owner::<P> {
                first: owners.first(index),
                scanners: owners.count,
                parents,
                next: Vec::new(),
                early: Vec::new(),
                inbox,
                frontier,
            };
            let root = (owners.of(root) == index).then_some(root);
            self.runtime.spawn(owner.run(root))
        });
        spawned.collect()
    }
}

impl Search for Messages<'_> {
    fn clear(&mut self) {
        let blocks = (0..self.owners.count).map(|owner| vec![NONE; self.owners.range(owner).len()]);
        self.parents = blocks.collect();
    }

    fn run(&mut self, root: u32) {
        let owners = match self.over {
            Over::Channel => self.spawn::<ByChannel>(root),
            Over::Pipe => self.spawn::<ByPipe>(root),
        };
        let parents = owners.into_iter().map(|owner| {
            let joined = owner.wait();
            joined.unwrap_or_else(|error| panic!("an owner of vertices: {error}"))
        });
        self.parents = parents.collect();
    }

    fn parents(&mut self) -> Vec<u32> {
        self.parents.concat()
    }
}

/// Sends what the frontier's vertices lead to.
struct Scanner<P: Post> {
    graph: Arc<Graph>,
    owners: Owners,
    batch: usize,
    to: Vec<P::Tx>,
    /// The vertices that it has sent, one bit each.
    sent: Vec<u64>,
}

impl<P: Post> Scanner<P> {
    async fn run(mut self, mut inbox: P::Rx) {
        let graph = self.graph.clone();
        let full = self.batch;
        // An owner gets no more than it has vertices.
        let most = |owner| full.min(self.owners.range(owner).len());
        let batches = (0..self.owners.count).map(|owner| Vec::with_capacity(most(owner)));
        let mut batches: Vec<Vec<Edge>> = batches.collect();
        self.sent = vec![0; graph.vertices().div_ceil(64)];
        // Since it last gave others a turn.
        let mut scanned = 0;
        while let Some((odd, Message::Frontier(frontier))) = P::receive(&mut inbox).await {
            for &vertex in &frontier {
                let mut targets = graph.neighbours(vertex);
                scanned += targets.len();
                if scanned > SCANNED_MAX {
                    scanned = 0;
                    gossamer::yield_now().await;
                }
                while let Some(owner) = self.fill(&mut batches, vertex, &mut targets) {
                    self.post(owner, odd, &mut batches[owner]).await;
                }
            }
            for (owner, batch) in batches.iter_mut().enumerate() {
                if !batch.is_empty() {
                    self.post(owner, odd, batch).await;
                }
                P::send(&mut self.to[owner], (odd, Message::End(frontier.len()))).await;
            }
        }
    }

    /// Puts neighbours into the batches of their owners until one is full: the owner.
    fn fill(
        &mut self,
        batches: &mut [Vec<Edge>],
        vertex: u32,
        targets: &mut &[u32],
    ) -> Option<usize> {
        while let Some((&target, rest)) = targets.split_first() {
            *targets = rest;
            let (word, bit) = (&mut self.sent[target as usize / 64], 1 << (target % 64));
            if *word & bit != 0 {
                continue;
            }
            *word |= bit;
            let owner = self.owners.of(target);
            batches[owner].push([target, vertex]);
            if batches[owner].len() == self.batch {
                return Some(owner);
            }
        }
        None
    }

    async fn post(&mut self, owner: usize, odd: bool, batch: &mut Vec<Edge>) {
        let message = match batch[..] {
            [edge] => {
                batch.clear();
                Message::Edge(edge)
            }
            _ => Message::Batch(std::mem::replace(batch, Vec::with_capacity(self.batch))),
        };
        P::send(&mut self.to[owner], (odd, message)).await;
    }
}

/// Has the parents of its vertices.
struct Owner<P: Post> {
    /// Its first vertex.
    first: usize,
    scanners: usize,
    parents: Vec<u32>,
    next: Vec<u32>,
    /// Letters of the next level, by those who have begun it.
    early: Vec<Message>,
    inbox: P::Rx,
    frontier: P::Tx,
}

impl<P: Post> Owner<P> {
    /// Searches, from this root if that is one of its vertices; the parents.
    async fn run(mut self, root: Option<u32>) -> Vec<u32> {
        if let Some(root) = root {
            self.found([root, root]);
        }
        let mut odd = false;
        loop {
            let frontier = Message::Frontier(std::mem::take(&mut self.next));
            P::send(&mut self.frontier, (odd, frontier)).await;
            // Those that are through with this level, and what they had to do in it.
            let (mut through, mut searched) = (0, 0);
            for message in std::mem::take(&mut self.early) {
                self.hear(message, &mut through, &mut searched);
            }
            while through < self.scanners {
                let letter = P::receive(&mut self.inbox).await;
                let (level, message) = letter.expect("scanners go after their owners");
                if level == odd {
                    self.hear(message, &mut through, &mut searched);
                } else {
                    self.early.push(message);
                }
            }
            if searched == 0 {
                return self.parents;
            }
            odd = !odd;
        }
    }

    fn hear(&mut self, message: Message, through: &mut usize, searched: &mut usize) {
        match message {
            Message::Edge(edge) => self.found(edge),
            Message::Batch(edges) => edges.into_iter().for_each(|edge| self.found(edge)),
            Message::End(frontier) => {
                *through += 1;
                *searched += frontier;
            }
            Message::Frontier(_) => unreachable!("owners send these, to scanners"),
        }
    }

    fn found(&mut self, [vertex, from]: Edge) {
        let parent = &mut self.parents[vertex as usize - self.first];
        if *parent == NONE {
            *parent = from;
            self.next.push(vertex);
        }
    }
}
