//! Which door a path leads to.

use super::Health;

/// Where a request goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Route<'path> {
    /// The MCP endpoint.
    Mcp,
    /// The admin operation of this name.
    Admin(&'path str),
    /// A question about the gateway's health.
    Health(Health),
    /// What is counted.
    Metrics,
    /// There is nothing there. Also what clients look for when they hope for OAuth
    /// (`/.well-known/…`, `/register`): a 404 is what keeps them from starting a flow that cannot
    /// work.
    Nowhere,
}

impl<'path> Route<'path> {
    /// Finds the door. The endpoint is served with and without a slash at the end, because a
    /// redirect would lose the body or the `Authorization` header.
    pub(super) fn of(path: &'path str, endpoint: &str, admin: bool) -> Self {
        match path {
            _ if path == endpoint || path.strip_suffix('/') == Some(endpoint) => Self::Mcp,
            "/healthz" => Self::Health(Health::Alive),
            "/readyz" => Self::Health(Health::Ready),
            "/metrics" if admin => Self::Metrics,
            _ => match path.strip_prefix("/admin/v1/") {
                Some(operation) if admin => Self::Admin(operation),
                _ => Self::Nowhere,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b29_both_spellings_of_the_endpoint_lead_to_it() {
        for path in ["/mcp", "/mcp/"] {
            assert_eq!(Route::of(path, "/mcp", false), Route::Mcp);
        }
        for path in ["/mcpx", "/mcp//", "/MCP", "/mcp/web", "/"] {
            assert_eq!(Route::of(path, "/mcp", false), Route::Nowhere, "{path}");
        }
        assert_eq!(Route::of("/", "/", false), Route::Mcp);
    }

    #[test]
    fn admin_operations_exist_only_where_they_are_served() {
        assert_eq!(
            Route::of("/admin/v1/tokens/create", "/mcp", true),
            Route::Admin("tokens/create")
        );
        assert_eq!(
            Route::of("/admin/v1/tokens/create", "/mcp", false),
            Route::Nowhere
        );
    }

    #[test]
    fn http_08_the_two_health_doors() {
        assert_eq!(Route::of("/healthz", "/mcp", false), Route::Health(Health::Alive));
        assert_eq!(Route::of("/readyz", "/mcp", false), Route::Health(Health::Ready));
    }

    #[test]
    fn log_07_metrics_are_where_operators_are() {
        assert_eq!(Route::of("/metrics", "/mcp", true), Route::Metrics);
        assert_eq!(Route::of("/metrics", "/mcp", false), Route::Nowhere);
    }

    #[test]
    fn nobody_is_led_into_oauth() {
        for path in [
            "/.well-known/oauth-protected-resource/mcp",
            "/.well-known/openid-configuration",
            "/register",
        ] {
            assert_eq!(Route::of(path, "/mcp", true), Route::Nowhere);
        }
    }
}
