//! The lists of all servers form one.

use mcpr_tests::{Fake, gateway};

#[tokio::test(flavor = "multi_thread")]
async fn agg_01_tools_of_two_servers_form_one_list() {
    let (a, b) = (Fake::script().tool("x").stdio(), Fake::script().tool("x").http());
    let gateway = gateway().fake("a", &a).fake("b", &b).ready().await;
    let client = gateway.client().await;

    assert_eq!(client.tool_names().await, ["a_x", "b_x"]);
    let told = client.call("a_x", r#"{"n":123456789012345678901234567890}"#).await;
    assert_eq!(told["result"]["content"][0]["text"], r#"{"n":123456789012345678901234567890}"#);
    let told = client.call("b_x", r#"{"n":1}"#).await;
    assert_eq!(told["result"]["content"][0]["text"], r#"{"n":1}"#);
}
