//! Why a tool is or is not visible, and where a call of it goes.

use mcpr_admin::{Check, ExitCode, ExplainTool, Explanation, Verdict};

use crate::cli::tools::Explained;
use crate::connect::Gateway;
use crate::out::Out;
use crate::out::look::{Look, Paint};
use crate::out::table::{Cell, Table};
use crate::out::text::one_line;
use crate::problem::Problem;

/// `explain`
pub(super) async fn explain(gateway: &Gateway, out: &Out, asked: &Explained) -> Result<ExitCode, Problem> {
    let operation = ExplainTool {
        name: asked.name.clone(),
        token: asked.token.clone(),
        project: asked.project.clone(),
        toolset: asked.toolset.clone(),
    };
    let explanation = gateway.ask(&operation).await?;
    out.report(&explanation, page)?;
    Ok(ending(&explanation))
}

fn ending(explanation: &Explanation) -> ExitCode {
    match (&explanation.tool, explanation.visible && explanation.callable) {
        (None, _) => ExitCode::NotFound,
        (Some(_), true) => ExitCode::Ok,
        (Some(_), false) => ExitCode::Failed,
    }
}

fn page(explanation: &Explanation, look: &Look) -> String {
    let also: Vec<_> = explanation
        .suggestions
        .iter()
        .map(|name| one_line(name))
        .collect();
    let meant = match &also[..] {
        [] => String::new(),
        names => format!("names like it: {}\n", names.join(", ")),
    };
    let route = explanation
        .route
        .iter()
        .map(|route| format!("a call goes to {}\n", one_line(route)));
    format!(
        "{}\n{}{}{meant}",
        headline(explanation, look),
        checks(&explanation.checks, look),
        route.collect::<String>()
    )
}

fn headline(explanation: &Explanation, look: &Look) -> String {
    let name = look.paint(Paint::Head, &one_line(&explanation.name));
    let says = |yes: bool, what: &str| match yes {
        true => look.paint(Paint::Good, what),
        false => look.paint(Paint::Bad, &format!("not {what}")),
    };
    let visible = says(explanation.visible, "visible");
    let callable = says(explanation.callable, "callable");
    format!(
        "{name} for {}: {visible}, {callable}",
        one_line(&explanation.principal)
    )
}

/// Rows on a pipe; on a terminal lines that are not cut, since what to do stands at their ends.
fn checks(checks: &[Check], look: &Look) -> String {
    if look.width.is_some() {
        return checks.iter().map(|check| line(check, look)).collect();
    }
    let mut table = Table::new(&["VERDICT", "CHECK", "FOUND", "HINT"]);
    for check in checks {
        table.row([
            Cell::from(check.verdict.as_str()).paint(paint(check.verdict)),
            check.what.as_str().into(),
            check.found.as_str().into(),
            check.hint.as_deref().into(),
        ]);
    }
    table.draw(look)
}

fn line(check: &Check, look: &Look) -> String {
    let mark = look.paint(paint(check.verdict), sign(check.verdict));
    let found = one_line(&check.found);
    let hint = check
        .hint
        .iter()
        .map(|hint| format!("{:15}→ {}\n", "", one_line(hint)));
    format!("  {mark} {:<11}{found}\n{}", check.what, hint.collect::<String>())
}

fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "✓",
        Verdict::Note => "!",
        Verdict::Block => "✗",
    }
}

fn paint(verdict: Verdict) -> Paint {
    match verdict {
        Verdict::Pass => Paint::Good,
        Verdict::Note => Paint::Uncertain,
        Verdict::Block => Paint::Bad,
    }
}

#[cfg(test)]
mod tests {
    use mcpr_admin::CheckedOf;

    use super::*;

    #[test]
    fn ctl_01_on_a_terminal_checks_have_signs_and_what_to_do_is_not_cut() {
        let check = |what, verdict, hint: Option<&str>| Check {
            what,
            verdict,
            found: "it was looked at closely, and this is what was found".into(),
            hint: hint.map(str::to_owned),
        };
        let all = [
            check(CheckedOf::Name, Verdict::Pass, None),
            check(
                CheckedOf::Definition,
                Verdict::Note,
                Some("mcpr-ctl toolsets accept dev"),
            ),
            check(
                CheckedOf::Switch,
                Verdict::Block,
                Some("mcpr-ctl tools enable git.push"),
            ),
        ];
        let look = Look {
            width: Some(40),
            color: false,
        };

        insta::assert_snapshot!(checks(&all, &look));
    }
}
