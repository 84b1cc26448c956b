//! `config show` and `config path`

use std::env;
use std::path::{Path, PathBuf};

use mcpr_admin::ExitCode;
use mcpr_config::{Document, Effective, Locations, Process, Setting, Sources};
use mcpr_protocol::RawJson;
use serde::Serialize;

use crate::cli::Global;
use crate::files::Files;
use crate::out::look::{Look, Paint};
use crate::out::table::{Cell, Table};
use crate::out::text::printable;
use crate::out::{Out, path};
use crate::problem::Problem;

/// The texts of the files that count.
#[derive(Serialize)]
struct Shown {
    files: Vec<ShownFile>,
}

#[derive(Serialize)]
struct ShownFile {
    #[serde(serialize_with = "path::shown")]
    file: PathBuf,
    /// With `•••` in the place of what may be secret.
    text: String,
}

/// What all files come to together.
#[derive(Serialize)]
struct Values {
    values: Vec<Value>,
}

/// A value and where it is from: a file and a line, or a variable.
#[derive(Serialize)]
struct Value {
    key: String,
    value: RawJson,
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "path::shown_if_any"
    )]
    file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variable: Option<&'static str>,
}

/// Which files are looked at.
#[derive(Serialize)]
struct Looked {
    files: Vec<LookedFile>,
}

#[derive(Serialize)]
struct LookedFile {
    #[serde(serialize_with = "path::shown")]
    file: PathBuf,
    /// What names it.
    from: &'static str,
    exists: bool,
    /// Whether it counts.
    used: bool,
}

/// The variables that win over a key of the top `mcpr`.
const VARIABLES: [(&str, &str); 6] = [
    ("MCPR_LISTEN", "mcpr.listen"),
    ("MCPR_PORT", "mcpr.listen"),
    ("MCPR_TLS_CERT", "mcpr.tls.cert"),
    ("MCPR_TLS_KEY", "mcpr.tls.key"),
    ("MCPR_LOG_LEVEL", "mcpr.log.level"),
    ("MCPR_LOG_FORMAT", "mcpr.log.format"),
];

/// The files as they are, but for secrets.
pub(super) fn files(global: &Global, out: &Out) -> Result<ExitCode, Problem> {
    let files = Files::open(global)?;
    let there: Vec<_> = files
        .documents()
        .iter()
        .filter(|document| !document.is_new())
        .collect();
    if there.is_empty() {
        tell_none(out, &files.locations);
    }
    let shown = |document: &&Document| ShownFile {
        file: document.path().to_owned(),
        text: document.veiled(),
    };
    let shown = Shown {
        files: there.iter().map(shown).collect(),
    };
    out.report(&shown, pages)?;
    Ok(ExitCode::Ok)
}

/// Several files are told apart by a comment.
fn pages(shown: &Shown, look: &Look) -> String {
    let several = shown.files.len() > 1;
    let page = |file: &ShownFile| {
        let head = several.then(|| look.paint(Paint::Dim, &format!("// {}", file.file.display())) + "\n");
        let end = if file.text.ends_with('\n') { "" } else { "\n" };
        format!("{}{}{end}", head.unwrap_or_default(), printable(&file.text))
    };
    shown.files.iter().map(page).collect()
}

fn tell_none(out: &Out, locations: &Locations) {
    let (Sources::Named(places) | Sources::Usual(places)) = &locations.sources;
    let places: Vec<_> = places.iter().map(|place| place.display().to_string()).collect();
    out.note(&format!(
        "there is no configuration file; looked for {}",
        places.join(" and ")
    ));
}

/// What the files and variables come to, value by value.
pub(super) fn effective(global: &Global, out: &Out) -> Result<ExitCode, Problem> {
    let locations = Locations::from_env(&global.config, &Process)?;
    let settings = Effective::read(&locations, &Process)?.settings();
    if settings.is_empty() {
        out.note("no file says anything; `mcpr-ctl config path` shows which are looked at");
    }
    let values = settings.into_iter().map(Value::from).chain(variables());
    let values = Values {
        values: values.collect(),
    };
    out.report(&values, table)?;
    Ok(ExitCode::Ok)
}

/// What the variables say that are set here; a gateway may have others.
fn variables() -> impl Iterator<Item = Value> {
    VARIABLES.into_iter().filter_map(|(variable, key)| {
        let value = env::var_os(variable).filter(|value| !value.is_empty())?;
        Some(Value {
            key: key.to_owned(),
            value: RawJson::string(&value.to_string_lossy()),
            file: None,
            line: None,
            variable: Some(variable),
        })
    })
}

impl From<Setting> for Value {
    fn from(setting: Setting) -> Self {
        Self {
            key: setting.key,
            value: setting.value,
            file: Some(setting.place.file),
            line: Some(setting.place.line),
            variable: None,
        }
    }
}

fn table(values: &Values, look: &Look) -> String {
    let mut table = Table::new(&["KEY", "FROM", "VALUE"]);
    for value in &values.values {
        let place = value.file.as_deref().zip(value.line);
        let place = place.map(|(file, line)| format!("{}:{line}", file.display()));
        let from = place.or_else(|| value.variable.map(str::to_owned));
        table.row([
            value.key.as_str().into(),
            from.into(),
            value.value.as_str().into(),
        ]);
    }
    table.draw(look)
}

/// The files that are looked at, and which of them count.
pub(super) fn paths(global: &Global, out: &Out) -> Result<ExitCode, Problem> {
    let locations = Locations::from_env(&global.config, &Process)?;
    let looked = Looked {
        files: looked(&locations, !global.config.is_empty()),
    };
    out.report(&looked, |looked, look| {
        let mut table = Table::new(&["FILE", "FROM", "STATE"]);
        for file in &looked.files {
            let path = file.file.display().to_string();
            table.row([path.into(), file.from.into(), state(file)]);
        }
        table.draw(look)
    })?;
    Ok(ExitCode::Ok)
}

fn looked(locations: &Locations, by_flag: bool) -> Vec<LookedFile> {
    match &locations.sources {
        Sources::Named(files) => {
            let from = if by_flag { "--config" } else { "MCPR_CONFIG" };
            let named = |file: &PathBuf| LookedFile::new(file, from, true);
            files.iter().map(named).collect()
        }
        Sources::Usual(files) => {
            let first = files.iter().position(|file| file.exists());
            let usual = |(index, file): (usize, &PathBuf)| {
                let from = if *file == locations.paths.config {
                    "user"
                } else {
                    "system"
                };
                LookedFile::new(file, from, Some(index) == first)
            };
            files.iter().enumerate().map(usual).collect()
        }
    }
}

impl LookedFile {
    fn new(file: &Path, from: &'static str, used: bool) -> Self {
        let exists = file.exists();
        Self {
            file: file.to_owned(),
            from,
            exists,
            used: used && exists,
        }
    }
}

fn state(file: &LookedFile) -> Cell {
    match (file.used, file.exists) {
        (true, _) => Cell::from("used").paint(Paint::Good),
        (false, true) => Cell::from("not read, another counts").paint(Paint::Uncertain),
        (false, false) => Cell::from("not there").paint(Paint::Dim),
    }
}
