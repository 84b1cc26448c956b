//! Answers as a gateway gives them.

pub(crate) const STATUS: &str = r#"{"version":"0.1.0","pid":8123,"uptimeSeconds":273600,
"startedAt":"2027-01-15T08:00:00Z","listen":["http://127.0.0.1:3282/mcp"],"configFiles":["/etc/mcpr/mcpr.json"],
"logFile":"/var/log/mcpr/mcpr_2027-01-15T08-00-00.log","sessions":2,"callsTotal":412,"errorsTotal":1,"servers":[
{"name":"git","state":"ok","via":"stdio","protocol":"2025-11-25","tools":12,"prompts":1,"resources":0,"inFlight":1,"pid":8130,"starts":1},
{"name":"postgres","state":"idle","via":"stdio","tools":5,"prompts":0,"resources":0,"inFlight":0,"starts":0},
{"name":"docs","state":"down","via":"http","inFlight":0,"reason":"connection refused","retryInMs":4000,"starts":7},
{"name":"slack","state":"auth-required","via":"http","inFlight":0,"reason":"the server wants a token","retryInMs":300000,"starts":1},
{"name":"jira","state":"misconfigured","inFlight":0,"reason":"`headers.Authorization` needs JIRA_TOKEN, which is not set","starts":0}]}"#;

pub(crate) const ALL_WELL: &str = r#"{"version":"0.1.0","pid":8123,"uptimeSeconds":59,"startedAt":"2027-01-15T08:00:00Z",
"listen":[],"configFiles":[],"sessions":1,"callsTotal":1,"errorsTotal":0,"servers":[
{"name":"git","state":"ok","via":"stdio","tools":12,"prompts":0,"resources":0,"inFlight":0,"starts":1},
{"name":"postgres","state":"idle","via":"stdio","inFlight":0,"starts":0}]}"#;

pub(crate) const SERVERS: &str = r#"{"servers":[
{"name":"git","state":"ok","via":"stdio","protocol":"2025-11-25","tools":12,"prompts":1,"resources":0,"inFlight":1,"pid":8130,"starts":1},
{"name":"docs","state":"down","via":"sse","inFlight":0,"reason":"connection refused","retryInMs":0,"starts":7}]}"#;

pub(crate) const TOOLS: &str = r#"{"tools":[
{"name":"git_status","server":"git","origin":"status","description":"Show the\n  working tree status","readOnly":true,"idempotent":true,"estimatedTokens":92},
{"name":"git_push","server":"git","origin":"push","title":"Push","readOnly":false,"destructive":true,"estimatedTokens":1903},
{"name":"docs_search","server":"docs","origin":"search","description":"Search\u001b[31m the docs","estimatedTokens":22001,"futureMember":1}]}"#;

pub(crate) const TOOL: &str = r#"{"tool":{"name":"git_status","server":"git","origin":"status","title":"Status",
"description":"Show the working tree status.\n\nTakes a path.","readOnly":true,"estimatedTokens":92},"definition":{ "name":"git_status","inputSchema":{"type":"object","properties":{"depth":{"maximum":123456789012345678901234567890}}},"annotations":{}}}"#;

pub(crate) const RESULT: &str = r#"{"result":{ "content":[{"type":"text","text":"On branch main"},
{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"resource_link","uri":"file:///a","name":"a"},
{"type":"resource","resource":{"uri":"file:///b","text":"embedded"}},
{"type":"resource","resource":{"uri":"file:///c","blob":"AAAA","mimeType":"image/png"}}], "n":123456789012345678901234567890, "x":1E400}}"#;

pub(crate) const RESULT_LINE: &str = r#"{ "content":[{"type":"text","text":"On branch main"},
{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"resource_link","uri":"file:///a","name":"a"},
{"type":"resource","resource":{"uri":"file:///b","text":"embedded"}},
{"type":"resource","resource":{"uri":"file:///c","blob":"AAAA","mimeType":"image/png"}}], "n":123456789012345678901234567890, "x":1E400}"#;

pub(crate) const STRUCTURED: &str =
    r#"{"result":{"content":[],"structuredContent":{"n":123456789012345678901234567890}}}"#;

pub(crate) const TOOL_FAILED: &str =
    r#"{"result":{"content":[{"type":"text","text":"no such path"}],"isError":true}}"#;

pub(crate) const RESOURCES: &str = r#"{"resources":[
{"uri":"resource://docs/file:///README.md","server":"docs","origin":"file:///README.md","name":"README","description":"Start here","mimeType":"text/markdown","size":12900}],
"templates":[{"uriTemplate":"resource://docs/file:///{page}","server":"docs","origin":"file:///{page}","name":"page"}]}"#;

pub(crate) const READ: &str = r#"{"result":{"contents":[{"uri":"u","text":"one\u001b[31m\n"},{"uri":"u","blob":"AP9h","mimeType":"image/png"}]}}"#;

pub(crate) const PROMPTS: &str = r#"{"prompts":[{"name":"git_review","server":"git","origin":"review","description":"Review a change",
"arguments":[{"name":"path","required":true},{"name":"style","required":false}]}]}"#;

pub(crate) const PROMPT: &str = r#"{"result":{"messages":[{"role":"user","content":{"type":"text","text":"Review src"}},
{"role":"assistant","content":{"type":"image","data":"AAAA","mimeType":"image/png"}}]}}"#;

pub(crate) const CREATED: &str = r#"{"secret":"mcpr_pat_x7Qa0Tn","id":"tk_7h2k9qmd","kind":"pat","name":"laptop","prefix":"mcpr_pat_x7Q",
"state":"active","client":"cursor","project":"web","scopes":["read","call"],"created":"2027-01-15T08:00:00Z","expires":"2027-04-15T08:00:00Z"}"#;

pub(crate) const TOKENS: &str = r#"{"tokens":[
{"id":"tk_7h2k9qmd","kind":"pat","name":"laptop","prefix":"mcpr_pat_x7Q","state":"active","client":"cursor","project":"web","scopes":["read","call"],
"created":"2027-01-15T08:00:00Z","expires":"2027-04-15T08:00:00Z","lastUsed":"2027-01-15T09:00:00Z"},
{"id":"tk_00000000","kind":"adm","name":"ops","prefix":"mcpr_adm_aaa","state":"revoked","scopes":["admin"],"created":"2027-01-15T08:00:00Z","revoked":"2027-01-16T08:00:00Z"}]}"#;

pub(crate) const REVOKED: &str = r#"{"id":"tk_7h2k9qmd","kind":"pat","name":"laptop","prefix":"mcpr_pat_x7Q","state":"revoked",
"scopes":["read","call"],"created":"2027-01-15T08:00:00Z","revoked":"2027-01-16T08:00:00Z"}"#;

pub(crate) const ROTATED: &str = r#"{"secret":"mcpr_pat_9kWa0Tn","id":"tk_7h2k9qmd","kind":"pat","name":"laptop","prefix":"mcpr_pat_9kW","state":"active",
"scopes":["read","call"],"created":"2027-01-15T08:00:00Z","rotated":"2027-01-16T08:00:00Z","retiring":{"prefix":"mcpr_pat_x7Q","until":"2027-01-17T08:00:00Z"}}"#;

pub(crate) const STOPPING: &str = r#"{"pid":8123}"#;

pub(crate) const NO_TOOL: &str = r#"{"error":{"code":"not_found","message":"Unknown tool: git_statsu"}}"#;

pub(crate) const NO_SERVER: &str = r#"{"error":{"code":"not_found","message":"there is no server `gti`"}}"#;

pub(crate) const DOWN: &str = r#"{"error":{"code":"unavailable","message":"the server `docs` is down: connection refused",
"hint":"it is tried again in 4 s","data":{"reason":"server_down","retryAfterMs":4000}}}"#;

pub(crate) const TOOLSETS: &str = r#"{"toolsets":[
{"name":"dev","owner":"operator","fromFile":false,"description":"What I need\nevery day","entries":2,"tools":12,"estimatedTokens":3100,"equipped":false,"equippedBy":["default","tk_7h2k9qmd"]},
{"name":"web","owner":"operator","fromFile":true,"entries":1,"tools":1,"estimatedTokens":92,"equipped":false},
{"name":"mine","owner":"tk_7h2k9qmd","fromFile":false,"entries":1,"tools":0,"estimatedTokens":0,"equipped":false}]}"#;

pub(crate) const NO_TOOLSET: &str = r#"{"error":{"code":"not_found","message":"there is no toolset `dve`"}}"#;

pub(crate) const PROJECTS: &str = r#"{"projects":[
{"name":"shop","fromFile":true,"description":"The shop","servers":["git","jira"],"tags":["frontend"],"toolset":"dev","members":["git","docs"],"missing":["server jira"],"tools":12,"estimatedTokens":3100},
{"name":"web","fromFile":false,"servers":["git"],"members":["git"],"tools":12,"estimatedTokens":3100}]}"#;
