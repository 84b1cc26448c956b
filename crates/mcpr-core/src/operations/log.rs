//! The log.

use mcpr_admin::{ErrorCode, Execute, Failure, LogReport, SetLogLevel, ShowLog};
use mcpr_auth::Principal;
use mcpr_telemetry::{Level, LogControl, UnknownLevel};

use super::Operator;

impl Execute<ShowLog, Principal> for Operator {
    async fn execute(&self, _: &Principal, _: ShowLog) -> Result<LogReport, Failure> {
        Ok(self.log_report(self.log()?))
    }
}

impl Execute<SetLogLevel, Principal> for Operator {
    async fn execute(&self, _: &Principal, asked: SetLogLevel) -> Result<LogReport, Failure> {
        let level: Level = asked
            .level
            .parse()
            .map_err(|error: UnknownLevel| Failure::new(ErrorCode::Invalid, error.to_string()))?;
        let log = self.log()?;
        self.gateway
            .change_log_level(log, level, "an operator changed what is logged");
        Ok(self.log_report(log))
    }
}

impl Operator {
    fn log(&self) -> Result<&LogControl, Failure> {
        let none = || {
            Failure::new(
                ErrorCode::Invalid,
                "the program around this gateway has a log of its own",
            )
        };
        self.gateway.log.as_ref().ok_or_else(none)
    }

    fn log_report(&self, log: &LogControl) -> LogReport {
        LogReport {
            level: log.level().to_string(),
            configured: self.gateway.plan().options.log.level.to_string(),
            file: log.path().map(|path| path.display().to_string()),
            shed: log.shed(),
            lost: log.lost(),
            history_shed: self.gateway.history.shed(),
        }
    }
}
