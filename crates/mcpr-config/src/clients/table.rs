//! What differs between clients, as data. Sources: their documentation and sources, and trials with
//! Claude Code 2.1, Codex 0.171 and Gemini CLI 0.61.

use super::{ClientApp, Format};

/// All that is known of a client.
pub(super) struct Profile {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) spellings: &'static [&'static str],
    pub(super) format: Format,
    pub(super) programs: &'static [&'static str],
    pub(super) user: Spots,
    /// The file of a project, below its folder.
    pub(super) project: Option<&'static str>,
    /// The member of its file that holds the servers.
    pub(super) root: &'static str,
    pub(super) http: Option<Http>,
    pub(super) stdio: Stdio,
    pub(super) timeout: Option<Timeout>,
    pub(super) variables: Variables,
    /// Limits that are worth knowing.
    pub(super) notes: &'static [&'static str],
}

/// The user's files of a client on each system; the first is where a new one goes. `~` is the home,
/// `$NAME` a variable for which `files` knows what it usually stands for.
pub(super) struct Spots {
    pub(super) linux: &'static [&'static str],
    pub(super) mac: &'static [&'static str],
    pub(super) windows: &'static [&'static str],
}

/// The words for a server behind a URL.
pub(super) struct Http {
    pub(super) kind: Option<&'static str>,
    pub(super) url: &'static str,
}

/// The words for a server that is a program.
pub(super) struct Stdio {
    pub(super) kind: Option<&'static str>,
    pub(super) command: &'static str,
    pub(super) env: &'static str,
}

/// The limit of a call.
pub(super) struct Timeout {
    pub(super) key: &'static str,
    pub(super) unit: Unit,
}

/// In what a limit is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Milliseconds,
    Seconds,
}

/// How a file names a variable of the client's environment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Variables {
    /// It cannot.
    None,
    /// `${NAME}`.
    Braces,
    /// `${NAME}` and `$NAME`.
    Shell,
    /// `${env:NAME}`.
    Env,
    /// Keys of their own, such as `bearer_token_env_var`.
    Keys,
}

/// A file that has the same place on all systems.
const fn everywhere(spots: &'static [&'static str]) -> Spots {
    Spots {
        linux: spots,
        mac: spots,
        windows: spots,
    }
}

const HTTP: Http = Http {
    kind: Some("http"),
    url: "url",
};

const STDIO: Stdio = Stdio {
    kind: None,
    command: "command",
    env: "env",
};

const MILLISECONDS: Timeout = Timeout {
    key: "timeout",
    unit: Unit::Milliseconds,
};

const SECONDS: Timeout = Timeout {
    key: "timeout",
    unit: Unit::Seconds,
};

pub(super) fn of(app: ClientApp) -> &'static Profile {
    match app {
        ClientApp::ClaudeCode => &CLAUDE_CODE,
        ClientApp::ClaudeDesktop => &CLAUDE_DESKTOP,
        ClientApp::Cursor => &CURSOR,
        ClientApp::VsCode => &VS_CODE,
        ClientApp::Codex => &CODEX,
        ClientApp::Gemini => &GEMINI,
        ClientApp::Windsurf => &WINDSURF,
        ClientApp::Zed => &ZED,
        ClientApp::Cline => &CLINE,
        ClientApp::Goose => &GOOSE,
    }
}

static CLAUDE_CODE: Profile = Profile {
    id: "claude-code",
    title: "Claude Code",
    spellings: &["claude", "claude-cli"],
    format: Format::Json,
    programs: &["claude"],
    user: everywhere(&["$CLAUDE_CONFIG_DIR/.claude.json"]),
    project: Some(".mcp.json"),
    root: "mcpServers",
    http: Some(HTTP),
    stdio: Stdio {
        kind: Some("stdio"),
        ..STDIO
    },
    timeout: Some(MILLISECONDS),
    variables: Variables::Braces,
    notes: &[
        "`timeout` is in milliseconds; `claude mcp add` cannot set it, and without it a call that is silent for 5 \
         minutes is given up",
        "descriptions are cut at 2 KB, and with tool search the model first sees names and instructions only",
    ],
};

static CLAUDE_DESKTOP: Profile = Profile {
    id: "claude-desktop",
    title: "Claude Desktop",
    spellings: &["desktop", "claude-app"],
    format: Format::Json,
    programs: &[],
    user: Spots {
        linux: &["$XDG_CONFIG_HOME/Claude/claude_desktop_config.json"],
        mac: &["~/Library/Application Support/Claude/claude_desktop_config.json"],
        windows: &["$APPDATA/Claude/claude_desktop_config.json"],
    },
    project: None,
    root: "mcpServers",
    http: None,
    stdio: STDIO,
    timeout: None,
    variables: Variables::None,
    notes: &[
        "its file takes no URLs, so it starts a program that connects it to the gateway",
        "it does not hear of changed lists: restart it after equipping another toolset",
    ],
};

static CURSOR: Profile = Profile {
    id: "cursor",
    title: "Cursor",
    spellings: &["cursor-ide"],
    format: Format::Json,
    programs: &["cursor"],
    user: everywhere(&["~/.cursor/mcp.json"]),
    project: Some(".cursor/mcp.json"),
    root: "mcpServers",
    http: Some(Http { kind: None, ..HTTP }),
    stdio: STDIO,
    timeout: None,
    variables: Variables::Env,
    notes: &[
        "a tool whose name and entry have more than 60 characters together is left out; mcpr's names fit while the \
         entry is called `mcpr`",
        "older versions take 40 tools in all, later ones warn above 80; `--toolset` offers fewer",
    ],
};

static VS_CODE: Profile = Profile {
    id: "vscode",
    title: "VS Code",
    spellings: &["code", "visual-studio-code", "copilot"],
    format: Format::Json,
    programs: &["code"],
    user: Spots {
        linux: &["$XDG_CONFIG_HOME/Code/User/mcp.json"],
        mac: &["~/Library/Application Support/Code/User/mcp.json"],
        windows: &["$APPDATA/Code/User/mcp.json"],
    },
    project: Some(".vscode/mcp.json"),
    root: "servers",
    http: Some(HTTP),
    stdio: Stdio {
        kind: Some("stdio"),
        ..STDIO
    },
    timeout: None,
    variables: Variables::Env,
    notes: &["a request takes 128 tools at the most; `--toolset` offers fewer"],
};

static CODEX: Profile = Profile {
    id: "codex",
    title: "Codex",
    spellings: &["codex-cli", "openai-codex"],
    format: Format::Toml,
    programs: &["codex"],
    user: everywhere(&["$CODEX_HOME/config.toml"]),
    project: Some(".codex/config.toml"),
    root: "mcp_servers",
    http: Some(Http { kind: None, ..HTTP }),
    stdio: STDIO,
    timeout: Some(Timeout {
        key: "tool_timeout_sec",
        ..SECONDS
    }),
    variables: Variables::Keys,
    notes: &[
        "without `tool_timeout_sec` a call ends after 120 seconds (60 in older versions); `codex mcp add` cannot set it",
        "names are cut at 64 characters; mcpr's fit",
    ],
};

static GEMINI: Profile = Profile {
    id: "gemini",
    title: "Gemini CLI",
    spellings: &["gemini", "google-gemini"],
    format: Format::Json,
    programs: &["gemini"],
    user: everywhere(&["~/.gemini/settings.json"]),
    project: Some(".gemini/settings.json"),
    root: "mcpServers",
    http: Some(HTTP),
    stdio: STDIO,
    timeout: Some(MILLISECONDS),
    variables: Variables::Shell,
    notes: &[
        "`timeout` is in milliseconds, 10 minutes without it",
        "each `gemini mcp add` writes the values of all variables in its file out: edit the file instead to keep the token \
         out of it",
        "names are cut at 63 characters, and the entry's name ends at the first `_`; `mcpr` fits",
    ],
};

static WINDSURF: Profile = Profile {
    id: "windsurf",
    title: "Windsurf",
    spellings: &["codeium", "cascade"],
    format: Format::Json,
    programs: &["windsurf"],
    user: everywhere(&[
        "~/.codeium/windsurf/mcp_config.json",
        "~/.codeium/mcp_config.json",
    ]),
    project: None,
    root: "mcpServers",
    http: Some(Http {
        kind: None,
        url: "serverUrl",
    }),
    stdio: STDIO,
    timeout: None,
    variables: Variables::Env,
    notes: &["it takes 100 tools in all; `--toolset` offers fewer"],
};

static ZED: Profile = Profile {
    id: "zed",
    title: "Zed",
    spellings: &["zed-editor", "zeditor"],
    format: Format::Json,
    programs: &["zed", "zeditor"],
    user: Spots {
        linux: &["$XDG_CONFIG_HOME/zed/settings.json"],
        mac: &["~/.config/zed/settings.json"],
        windows: &["$APPDATA/Zed/settings.json"],
    },
    project: Some(".zed/settings.json"),
    root: "context_servers",
    http: Some(Http { kind: None, ..HTTP }),
    stdio: STDIO,
    timeout: None,
    variables: Variables::None,
    notes: &["it shows tools and prompts, but no resources"],
};

static CLINE: Profile = Profile {
    id: "cline",
    title: "Cline",
    spellings: &["claude-dev"],
    format: Format::Json,
    programs: &["cline"],
    user: Spots {
        linux: &[
            "~/.cline/data/settings/cline_mcp_settings.json",
            "$XDG_CONFIG_HOME/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            "~/.cline/mcp.json",
        ],
        mac: &[
            "~/.cline/data/settings/cline_mcp_settings.json",
            "~/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            "~/.cline/mcp.json",
        ],
        windows: &[
            "~/.cline/data/settings/cline_mcp_settings.json",
            "$APPDATA/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            "~/.cline/mcp.json",
        ],
    },
    project: None,
    root: "mcpServers",
    http: Some(Http {
        kind: Some("streamableHttp"),
        ..HTTP
    }),
    stdio: Stdio {
        kind: Some("stdio"),
        ..STDIO
    },
    timeout: Some(SECONDS),
    variables: Variables::Env,
    notes: &[
        "`timeout` is in seconds, 60 without it and 3600 at the most",
        "a URL without `type` means the old HTTP+SSE there",
    ],
};

static GOOSE: Profile = Profile {
    id: "goose",
    title: "Goose",
    spellings: &["block-goose"],
    format: Format::Yaml,
    // A tool for databases has the same name.
    programs: &[],
    user: Spots {
        linux: &["$XDG_CONFIG_HOME/goose/config.yaml"],
        mac: &["~/.config/goose/config.yaml"],
        windows: &["$APPDATA/Block/goose/config/config.yaml"],
    },
    project: None,
    root: "extensions",
    http: Some(Http {
        kind: Some("streamable_http"),
        url: "uri",
    }),
    stdio: Stdio {
        kind: Some("stdio"),
        command: "cmd",
        env: "envs",
    },
    timeout: Some(SECONDS),
    variables: Variables::Keys,
    notes: &[
        "`timeout` is in seconds",
        "Goose advises at most 25 tools; `--toolset` offers fewer",
    ],
};
