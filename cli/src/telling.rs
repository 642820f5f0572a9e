//! Webhooks: told on threads of their own while a command works, and for a moment at its end.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use plangate_approval::SqliteStore;
use plangate_notify::line::standing;
use plangate_notify::{Courier, NotifyError, Progress, Secret, Webhook};

use crate::config::WebhookChoice;
use crate::context::Context;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::project::Project;

/// How long a command waits at its end for receivers. What is left is told by the next command.
const AT_THE_END: Duration = Duration::from_secs(2);

/// What is told while a command works.
#[derive(Debug)]
pub(crate) struct Telling {
    courier: Courier,
    folder: PathBuf,
    webhooks: Vec<WebhookChoice>,
    help: String,
}

impl Telling {
    /// Begins to tell what happens in the store from now on, if the settings have it told to anybody. Comes before the
    /// first verb of a command: a missing secret is found out before anything is done.
    pub(crate) fn start(project: &Project, store: &Arc<SqliteStore>) -> Result<Option<Telling>, Fault> {
        let webhooks = project.config.webhooks.clone();
        if webhooks.is_empty() {
            return Ok(None);
        }
        let folder = folder(project);
        let courier = Courier::start(store, whole(project)?, &folder).map_err(|e| fault(&e))?;
        Ok(Some(Telling { courier, folder, webhooks, help: project.typed("webhooks") }))
    }

    /// Waits a moment for receivers, and says what was not told.
    pub(crate) fn finish(self, context: &Context) {
        let errors = self.courier.finish(AT_THE_END);
        if context.output.is_json() {
            return;
        }
        for error in errors {
            context.output.remark(&format!("webhooks: {error}\n"));
        }
        for webhook in &self.webhooks {
            // What cannot be read was said above.
            let Ok(Some(Progress { failing: Some(failing), .. })) = standing(&self.folder, &webhook.address)
            else {
                continue;
            };
            context.output.remark(&format!(
                "webhook {}: not told since event {}: {}; `{}` says more\n",
                webhook.address.shown(),
                failing.seq,
                failing.error,
                self.help
            ));
        }
    }
}

/// The folder with the webhooks' files: beside the store.
pub(crate) fn folder(project: &Project) -> PathBuf {
    let mut name = project.store.as_os_str().to_owned();
    name.push(".webhooks");
    name.into()
}

/// The webhooks of a project, with their secrets.
pub(crate) fn whole(project: &Project) -> Result<Vec<Webhook>, Fault> {
    project.config.webhooks.iter().map(|choice| with_secret(choice, project)).collect()
}

fn with_secret(choice: &WebhookChoice, project: &Project) -> Result<Webhook, Fault> {
    let name = &choice.secret_env;
    let wrong = |why: String| {
        let message = format!("the webhook {} has no secret: {why}", choice.address.shown());
        let file = project.config.file.as_ref().map_or_else(String::new, |file| file.display().to_string());
        Fault::new(Exit::Config, "webhook-secret", message)
            .at(file)
            .help("nothing was done; set the variable, or take the webhook out of the settings")
    };
    let text = std::env::var(name).map_err(|e| wrong(format!("{name}: {e}")))?;
    let secret = Secret::new(&text).map_err(|e| wrong(format!("{name}: {e}")))?;
    Ok(Webhook::new(choice.address.clone(), secret, choice.events.clone()))
}

/// What keeps webhooks from being told.
pub(crate) fn fault(error: &NotifyError) -> Fault {
    match error {
        NotifyError::Store(e) => crate::store::fault(e),
        NotifyError::State { .. } => Fault::new(Exit::Unusable, "webhooks", error.to_string()),
        NotifyError::Thread(_) => Fault::new(Exit::Internal, "internal", error.to_string()),
    }
}
