//! Help beyond the single arguments.

use std::fmt::Write;

use mcpr_admin::ExitCode;

const ENVIRONMENT: &str = "\
Environment (a flag wins over a variable, and that over the file):
  MCPR_CONFIG      as --config
  MCPR_HOME        one folder for configuration, database, logs and socket
  MCPR_LISTEN      as --listen
  MCPR_PORT        as --port
  MCPR_TLS_CERT    as --tls-cert
  MCPR_TLS_KEY     as --tls-key
  MCPR_LOG_LEVEL   as --log-level
  MCPR_LOG_FORMAT  as --log-format
  MCPR_TOKEN       the token for `connect --url`
  NO_COLOR         no colours
  HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY
                   proxies before servers elsewhere, in either case
  NODE_EXTRA_CA_CERTS, SSL_CERT_FILE, SSL_CERT_DIR
                   whose certificates are trusted";

/// What stands below the long help.
pub(super) fn after_help() -> String {
    let mut text = String::from("Exit codes:");
    for code in ExitCode::ALL {
        let _ = write!(text, "\n  {:<4}{}", code.number(), code.meaning());
    }
    text + "\n\n" + ENVIRONMENT
}
