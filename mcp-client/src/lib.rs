//! The tools of MCP servers, as a catalog and as the executor's tools.
//!
//! [`Config`] reads an `.mcp.json`. [`McpTools::start`] starts the servers that a plan uses, each a child process in a
//! process group of its own, and lists their tools: [`McpTools::catalog`] is what plans compile against. [`McpTools`] is
//! the executor's [`Tools`](plangate_executor::Tools): reads as a verified plan hands them over, everything else with a
//! permit. There is no call by name: who has an `McpTools` can call nothing with it that the executor could not.
//!
//! What goes over the wire is what was approved: argument bytes enter the frame as they are. What comes back keeps its
//! numbers as written.
//!
//! Not here: servers behind a URL (Streamable HTTP; a typed error says so), sampling, elicitation and roots (a server
//! that asks is told no), resources and prompts.
//!
//! ```no_run
//! use plangate_mcp_client::{Config, McpTools, Options};
//!
//! let config = Config::read(".mcp.json".as_ref())?;
//! let started = McpTools::start(&config, ["gmail", "slack"], Options::default())?;
//! for error in &started.failed {
//!     eprintln!("{error}");
//! }
//! println!("{}", started.tools.catalog().to_json());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod call;
mod catalog;
pub mod config;
mod error;
mod listing;
mod options;
mod session;
mod slot;
#[cfg(test)]
mod tests;
mod tools;
mod transport;

pub use catalog::RefusedTool;
pub use config::{Config, ConfigError, ServerConfig, Variables};
pub use error::{Exit, Fault, McpError};
pub use options::{Options, Progress};
pub use tools::{McpTools, Started};
