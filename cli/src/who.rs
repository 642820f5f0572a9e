//! Who types: the operating system's user, as the kernel knows it.

use nix::unistd::{Uid, User};
use plangate_approval::Person;
use plangate_graph::Policy;

/// The user of this process. The kernel vouches for the number; the name is what the system calls it.
///
/// Roles are those that the policy gives `os:name`. A number without a name (a container often has none) is `uid-1000`.
pub(crate) fn myself(policy: &Policy) -> Person {
    // The real user, not the effective one: who typed, not as whom the program may act.
    let uid = Uid::current();
    let name = User::from_uid(uid).ok().flatten().map(|user| user.name).filter(|name| !name.is_empty());
    let subject = name.unwrap_or_else(|| format!("uid-{uid}"));
    let roles = policy.roles_of(&format!("os:{subject}")).into_iter().map(str::to_owned).collect();
    Person { issuer: "os".to_owned(), subject, roles, verified: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_knows_who_runs_this() {
        let person = myself(&Policy::default());
        assert_eq!(person.issuer, "os");
        assert!(!person.subject.is_empty());
        assert!(person.verified);
    }
}
