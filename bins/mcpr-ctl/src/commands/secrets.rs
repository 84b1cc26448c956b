//! Secrets that servers are given: kept by the running gateway, or straight in their file without one.

mod offline;

use mcpr_admin::{
    ExitCode, ListSecrets, Operation, RemoveSecret, Secret, SecretList, SecretReport, SecretState, SetSecret,
};
use mcpr_auth::Timestamp;
use mcpr_config::check_secret;

use self::offline::Offline;
use crate::books::Books;
use crate::cli::Global;
use crate::cli::secrets::Secrets;
use crate::connect::paths;
use crate::hidden;
use crate::occupant::absence;
use crate::out::Out;
use crate::out::facts::joined;
use crate::out::look::{Look, Paint};
use crate::out::phrase::time;
use crate::out::table::{Cell, Table};
use crate::problem::Problem;

/// `secrets …`
pub(super) async fn run(global: &Global, out: &Out, which: &Secrets) -> Result<ExitCode, Problem> {
    let keeper = Keeper {
        global,
        out,
        books: Books::of(global, out)?,
    };
    match which {
        Secrets::Set { value: Some(_), .. } => Err(in_sight()),
        Secrets::Set { name, value: None } => keeper.set(name).await,
        Secrets::Ls => keeper.list().await,
        Secrets::Rm { name } => keeper.remove(name).await,
    }
}

/// Whoever keeps the secrets now.
struct Keeper<'a> {
    global: &'a Global,
    out: &'a Out,
    books: Books<'a>,
}

impl Keeper<'_> {
    async fn set(&self, name: &str) -> Result<ExitCode, Problem> {
        // Nobody shall type a secret first and hear then that its name is wrong.
        check_secret(name, "any").map_err(Problem::usage)?;
        let Some(value) = hidden::read(self.out, &format!("Value of {name} (it is not shown):"))? else {
            return Ok(ExitCode::Interrupted);
        };
        check_secret(name, &value).map_err(Problem::usage)?;
        let operation = SetSecret {
            name: name.to_owned(),
            value: Secret::new(value),
        };
        let report = self.ask(operation).await?;
        self.out
            .report(&report, |report, _| format!("kept {}\n", report.name))?;
        self.tell_use(&report);
        Ok(ExitCode::Ok)
    }

    async fn list(&self) -> Result<ExitCode, Problem> {
        let list = self.ask(ListSecrets {}).await?;
        self.out.report(&list, table)?;
        if list.secrets.is_empty() {
            self.out
                .note("there are no secrets; keep one with `mcpr-ctl secrets set NAME`");
        }
        Ok(ExitCode::Ok)
    }

    async fn remove(&self, name: &str) -> Result<ExitCode, Problem> {
        let operation = RemoveSecret {
            name: name.to_owned(),
        };
        let report = self.ask(operation).await?;
        self.out
            .report(&report, |report, _| format!("removed {}\n", report.name))?;
        if report.state == SecretState::Unset && !report.used_by.is_empty() {
            let servers = report.used_by.join(", ");
            self.out
                .note(&format!("without it these cannot be used: {servers}"));
        }
        Ok(ExitCode::Ok)
    }

    /// Asks the gateway; if none is running where one is looked for by itself, works on the file.
    async fn ask<O>(&self, operation: O) -> Result<O::Output, Problem>
    where
        O: Operation,
        Offline: offline::CarryOut<O>,
    {
        match self.books.gateway().ask(&operation).await {
            Err(error) if self.books.is_absent(&error) => {
                let offline = Offline::new(self.global)?;
                let output = offline::CarryOut::carry_out(&offline, operation)?;
                let path = offline.path().display();
                let absence = absence(&paths(self.global)?);
                self.out.note(&format!("{absence}; used the secrets in {path}"));
                Ok(output)
            }
            answer => Ok(answer?),
        }
    }

    /// Says who gets it, or that nobody does.
    fn tell_use(&self, report: &SecretReport) {
        if report.state == SecretState::Credential {
            self.out
                .note("a credential of systemd has this name, and comes first");
        }
        self.out.note(&match &report.used_by[..] {
            [] => format!(
                "no server asks for it yet: write ${{secret:{}}} into its entry",
                report.name
            ),
            servers => format!("used by {}", servers.join(", ")),
        });
    }
}

fn table(list: &SecretList, look: &Look) -> String {
    let mut table = Table::new(&["SECRET", "STATE", "SET", "USED BY"]);
    let now = Timestamp::now();
    for secret in &list.secrets {
        table.row([
            secret.name.as_str().into(),
            state(secret.state),
            secret.changed.as_deref().map(|at| time(at, now, look)).into(),
            joined(&secret.used_by).into(),
        ]);
    }
    table.draw(look)
}

fn state(state: SecretState) -> Cell {
    let cell = Cell::from(state.as_str());
    match state {
        SecretState::Unset => cell.paint(Paint::Bad),
        _ => cell,
    }
}

fn in_sight() -> Problem {
    let problem = Problem::usage(
        "a secret is not taken from the command line, where other users and the shell's history can see it",
    );
    problem.hint(
        "give the name alone and type the value when asked, or pipe it in; what was typed here should be \
         changed where it came from",
    )
}
