//! The one thread that works on the database.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::fault::Fault;
use super::file::{self, Opened};
use crate::StoreError;

/// How many pieces of work may wait; whoever brings one more waits for a place.
const QUEUE: usize = 256;

/// Hands work to the thread that owns the connection. The thread ends when it is told to close or
/// when the worker is dropped, and in both cases first does what waits.
#[derive(Debug)]
pub(super) struct Worker {
    path: Arc<Path>,
    read_only: bool,
    orders: mpsc::Sender<Order>,
}

enum Order {
    Work(Box<dyn FnOnce(&mut Connection) + Send>),
    /// Close; what is in here is dropped when that is done.
    Close(oneshot::Sender<()>),
}

impl Worker {
    /// Starts the thread and waits until it has opened the database.
    pub(super) async fn start(path: PathBuf) -> Result<Self, StoreError> {
        let path: Arc<Path> = path.into();
        let (orders, queue) = mpsc::channel(QUEUE);
        let (opened, outcome) = oneshot::channel();
        let file = Arc::clone(&path);
        let thread = thread::Builder::new().name("mcpr-store".to_owned());
        thread
            .spawn(move || open_and_serve(&file, opened, queue))
            .map_err(StoreError::NoThread)?;
        let read_only = outcome.await.unwrap_or(Err(StoreError::Closed))?;
        Ok(Self {
            path,
            read_only,
            orders,
        })
    }

    /// Whether nothing can be changed.
    pub(super) fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Lets the thread do `work` and waits for what comes of it.
    pub(super) async fn run<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection) -> Result<T, Fault> + Send + 'static,
    {
        let (answer, outcome) = oneshot::channel();
        let path = Arc::clone(&self.path);
        let work = Box::new(move |db: &mut Connection| {
            // Nobody may be waiting any more; the work counts all the same.
            let _ = answer.send(work(db).map_err(|fault| fault.at(&path)));
        });
        self.orders
            .send(Order::Work(work))
            .await
            .map_err(|_| StoreError::Closed)?;
        outcome.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Takes no more work, and waits until what was brought before is done and the file is closed.
    pub(super) async fn close(&self) {
        let (closed, done) = oneshot::channel();
        if self.orders.send(Order::Close(closed)).await.is_ok() {
            // An error is the sign: the thread has dropped the other end.
            let _ = done.await;
        }
    }
}

fn open_and_serve(
    path: &Path,
    opened: oneshot::Sender<Result<bool, StoreError>>,
    queue: mpsc::Receiver<Order>,
) {
    let (outcome, db) = match file::open(path) {
        Ok(Opened { db, read_only }) => (Ok(read_only), Some(db)),
        Err(error) => (Err(error), None),
    };
    let awaited = opened.send(outcome).is_ok();
    if let Some(db) = db.filter(|_| awaited) {
        serve(db, queue);
    }
}

fn serve(mut db: Connection, mut queue: mpsc::Receiver<Order>) {
    let mut closing = Vec::new();
    while let Some(order) = queue.blocking_recv() {
        match order {
            Order::Work(work) => work(&mut db),
            Order::Close(closed) => {
                queue.close();
                closing.push(closed);
            }
        }
    }
    // The last connection to close folds the log into the file; only then has it ended.
    drop(db);
    drop(closing);
}
