//! Toolsets for people.

use mcpr_admin::{
    Active, ActiveBy, DefinitionState, Equipped, ToolState, ToolsetDetail, ToolsetEntry, ToolsetList,
    ToolsetReport, ToolsetTool, Unequipped,
};

use crate::out::facts::{facts, joined};
use crate::out::look::{Look, Paint};
use crate::out::phrase::{cost, counted, tokens};
use crate::out::table::{Cell, Table};
use crate::out::text::one_line;

/// All in short.
pub(super) fn list(list: &ToolsetList, look: &Look) -> String {
    let mut table = Table::new(&[
        "TOOLSET",
        "OWNER",
        "FROM",
        "ENTRIES",
        "TOOLS",
        "≈TOKENS",
        "EQUIPPED BY",
        "DESCRIPTION",
    ]);
    for toolset in &list.toolsets {
        table.row([
            toolset.name.as_str().into(),
            toolset.owner.as_str().into(),
            origin(toolset).into(),
            toolset.entries.into(),
            toolset.tools.into(),
            toolset.estimated_tokens.map(tokens).into(),
            joined(&toolset.equipped_by).into(),
            toolset.description.as_deref().into(),
        ]);
    }
    table.draw(look)
}

fn origin(toolset: &ToolsetReport) -> &'static str {
    match toolset.from_file {
        true => "config",
        false => "database",
    }
}

/// One in full; the entries in place of the tools where those are not known.
pub(super) fn detail(detail: &ToolsetDetail, look: &Look) -> String {
    let toolset = &detail.toolset;
    let name = look.paint(Paint::Head, &one_line(&toolset.name));
    let facts = facts([
        ("owner", Some(toolset.owner.clone())),
        ("from", Some(origin(toolset).to_owned())),
        ("description", toolset.description.clone()),
        ("entries", Some(toolset.entries.to_string())),
        (
            "tools",
            toolset
                .tools
                .map(|tools| cost(tools, toolset.estimated_tokens.unwrap_or(0))),
        ),
        ("equipped by", joined(&toolset.equipped_by)),
    ]);
    let content = match (toolset.tools, &detail.tools[..]) {
        (None, []) => entries(&detail.entries, look),
        (_, all) => tools(all, look),
    };
    format!("{name}\n{facts}\n{content}")
}

fn entries(entries: &[ToolsetEntry], look: &Look) -> String {
    let mut table = Table::new(&["ENTRY"]);
    for entry in entries {
        table.row([entry.namespaced_name.as_str().into()]);
    }
    table.draw(look)
}

fn tools(tools: &[ToolsetTool], look: &Look) -> String {
    let mut table = Table::new(&["TOOL", "NAME", "STATE", "DEFINITION", "≈TOKENS", "REMARK"]);
    for tool in tools {
        table.row([
            tool.namespaced_name.as_str().into(),
            tool.exposed_name.as_deref().into(),
            state(tool.state),
            definition(tool.definition),
            tool.estimated_tokens.map(tokens).into(),
            remark(tool).into(),
        ]);
    }
    table.draw(look)
}

fn state(state: ToolState) -> Cell {
    let paint = match state {
        ToolState::Registered => Paint::Good,
        ToolState::Unavailable | ToolState::OutOfScope => Paint::Uncertain,
        ToolState::Disabled => Paint::Dim,
        ToolState::Missing => Paint::Bad,
    };
    Cell::from(state.as_str()).paint(paint)
}

fn definition(definition: DefinitionState) -> Cell {
    let cell = Cell::from(definition.as_str());
    match definition {
        DefinitionState::Unchanged => cell,
        DefinitionState::Compatible => cell.paint(Paint::Uncertain),
        DefinitionState::Breaking => cell.paint(Paint::Bad),
        DefinitionState::Missing => cell.paint(Paint::Dim),
    }
}

/// Why it cannot be used, and what has changed.
fn remark(tool: &ToolsetTool) -> Option<String> {
    let known: Vec<_> = tool.reason.iter().chain(&tool.changes).cloned().collect();
    (!known.is_empty()).then(|| known.join("; "))
}

/// Its name and what it comes to.
pub(super) fn in_short(toolset: &ToolsetReport) -> String {
    format!("{}: {}", one_line(&toolset.name), size(toolset))
}

fn size(toolset: &ToolsetReport) -> String {
    match toolset.tools {
        Some(tools) => cost(tools, toolset.estimated_tokens.unwrap_or(0)),
        None if toolset.entries == 1 => "1 entry".to_owned(),
        None => format!("{} entries", toolset.entries),
    }
}

/// What came of equipping.
pub(super) fn equipped(equipped: &Equipped, look: &Look) -> String {
    let (toolset, whose) = (&equipped.toolset, whose(&equipped.principal));
    let name = one_line(&toolset.name);
    let registered = equipped.tools.len() as u64;
    let part = match toolset.tools {
        Some(all) if registered < all => format!("{registered} of "),
        _ => String::new(),
    };
    let mut page = format!("equipped {name} for {whose}: {part}{}\n", size(toolset));
    if !equipped.tools.is_empty() {
        page += &format!("\n{}", signatures(equipped, look));
    }
    if !equipped.skipped.is_empty() {
        page += &format!("\n{}", skipped(equipped, look));
    }
    page
}

fn signatures(equipped: &Equipped, look: &Look) -> String {
    let mut table = Table::new(&["TOOL", "PARAMETERS", "DESCRIPTION"]);
    for tool in &equipped.tools {
        let parameters = Some(tool.signature.as_str()).filter(|text| !text.is_empty());
        table.row([
            tool.name.as_str().into(),
            parameters.into(),
            tool.description.as_deref().into(),
        ]);
    }
    table.draw(look)
}

fn skipped(equipped: &Equipped, look: &Look) -> String {
    let mut table = Table::new(&["SKIPPED", "REASON"]);
    for tool in &equipped.skipped {
        table.row([
            Cell::from(tool.namespaced_name.as_str()).paint(Paint::Uncertain),
            tool.reason.as_str().into(),
        ]);
    }
    table.draw(look)
}

/// What came of taking it back.
pub(super) fn unequipped(unequipped: &Unequipped, _: &Look) -> String {
    let whose = whose(&unequipped.principal);
    match &unequipped.toolset {
        Some(toolset) => format!("unequipped {} for {whose}\n", one_line(toolset)),
        None => format!("nothing was equipped for {whose}\n"),
    }
}

/// Which one is in force.
pub(super) fn active(active: &Active, look: &Look) -> String {
    let whose = look.paint(Paint::Head, &whose(&active.principal));
    let reason = reason(active.by);
    match &active.toolset {
        Some(toolset) => format!("{whose}: {reason}\n\n{}", detail(toolset, look)),
        None => format!("{whose}: {reason}\n"),
    }
}

fn reason(by: ActiveBy) -> &'static str {
    match by {
        ActiveBy::Request => "the request names a toolset",
        ActiveBy::Equipped => "a toolset is equipped",
        ActiveBy::Token => "the token is bound to a toolset",
        ActiveBy::Project => "the project carries a toolset",
        ActiveBy::Default => "the gateway's default is equipped",
        ActiveBy::All => "no toolset; all tools in scope are seen",
        ActiveBy::BuiltIns => "no toolset; only the built-in tools are seen (`expose` is \"toolset\")",
    }
}

fn whose(principal: &str) -> String {
    match principal {
        mcpr_store::DEFAULT => "everybody without one of their own".to_owned(),
        key => one_line(key),
    }
}

/// How many tools, for a summary.
pub(super) fn count(tools: usize) -> String {
    counted(tools as u64, "tool")
}
