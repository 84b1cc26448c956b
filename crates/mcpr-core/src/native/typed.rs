//! Tools whose schema is that of a Rust type.

use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Outcome, Tool};

impl Tool {
    /// A tool whose arguments, and whose structured result, are Rust types; their schemas are derived (JSON
    /// Schema 2020-12). Arguments that do not fit and errors of the handler are told to the model.
    ///
    /// ```
    /// use mcpr_core::Tool;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Sum {
    ///     /// What to add up.
    ///     numbers: Vec<f64>,
    /// }
    ///
    /// #[derive(serde::Serialize, schemars::JsonSchema)]
    /// struct Total {
    ///     total: f64,
    /// }
    ///
    /// let sum = Tool::typed("sum", "Adds numbers up", |sum: Sum| async move {
    ///     let total = sum.numbers.iter().sum();
    ///     Ok::<_, std::convert::Infallible>(Total { total })
    /// });
    /// # assert_eq!(sum.name(), "sum");
    /// ```
    pub fn typed<A, O, E, F, W>(name: impl Into<String>, description: impl Into<String>, handler: F) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        O: Serialize + JsonSchema,
        E: std::fmt::Display,
        F: Fn(A) -> W + Send + Sync + 'static,
        W: Future<Output = Result<O, E>> + Send + 'static,
    {
        let handler = move |arguments: mcpr_protocol::RawJson| {
            let work = arguments.read::<A>().map(&handler);
            async move {
                match work {
                    Ok(work) => match work.await {
                        Ok(output) => Outcome::structured(&output),
                        Err(error) => Outcome::failed(error),
                    },
                    Err(error) => Outcome::failed(format_args!("the arguments do not fit: {error}")),
                }
            }
        };
        Self::new(name, description, schema::<A>(), handler).with("outputSchema", schema::<O>())
    }
}

fn schema<T: JsonSchema>() -> Value {
    let schema = SchemaGenerator::default().into_root_schema_for::<T>();
    serde_json::to_value(schema).unwrap_or_default()
}
