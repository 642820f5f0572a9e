//! What a call is, layer by layer: small tables made by hand.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use plangate_graph::catalog::Definition;
use plangate_graph::effect::{Classification, Effect, classify};
use plangate_graph::policy::Policy;
use plangate_graph::template::{Part, Ref, Source, Template};
use plangate_graph::value::Value;

use Effect::{Destructive, Read, Unknown, Write};

fn tool(name: &str, description: &str, schema: &str, annotations: &str) -> Definition {
    Definition {
        name: name.into(),
        description: description.into(),
        input_schema: Value::parse(schema).unwrap(),
        annotations: Value::parse(annotations).unwrap(),
    }
}

fn of(definition: &Definition) -> Classification {
    classify("acme", definition, None, &Policy::default())
}

fn of_name(name: &str) -> Classification {
    of(&tool(name, "", r#"{"type":"object","properties":{"id":{}}}"#, "null"))
}

fn names(table: &[(&str, Effect)]) {
    let wrong: Vec<String> = table
        .iter()
        .map(|(name, effect)| (name, effect, of_name(name)))
        .filter(|(_, effect, found)| **effect != found.effect)
        .map(|(name, effect, found)| {
            format!("{name}: expected {effect}, found {} {:?}", found.effect, found.evidence)
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn codes(classification: &Classification) -> Vec<&str> {
    classification.evidence.iter().map(|e| e.code.as_str()).collect()
}

#[test]
fn every_style() {
    for (tokens, effect) in
        [("list open issues", Read), ("delete user", Destructive), ("create folder", Write)]
    {
        let words: Vec<&str> = tokens.split(' ').collect();
        let capital = |w: &&str| w[..1].to_uppercase() + &w[1..];
        let pascal: String = words.iter().map(capital).collect();
        let styles = [
            words.join("_"),
            words.join("-"),
            words.join("."),
            words.join("_").to_uppercase(),
            pascal[..1].to_lowercase() + &pascal[1..],
            pascal,
        ];
        for name in styles {
            assert_eq!(of_name(&name).effect, effect, "{name}");
        }
    }
}

#[test]
fn verbs_of_reading() {
    names(&[
        ("get_issue", Read),
        ("search", Read),
        ("list", Read),
        ("whoami", Read),
        ("describe_table", Read),
        ("find_similar_documents", Read),
        ("check_domain_availability", Read),
        ("wait_for_deployment", Read),
        ("analyze_sentiment", Read),
        ("reverse_geocode", Read),
        ("hgetall", Read),
        ("convert_currency", Read),
        ("multiply", Read),
        ("current_time", Read),
        ("exchange_rate", Read),
        ("is_valid_iban", Read),
        ("file_exists", Read),
    ]);
}

#[test]
fn verbs_last_and_dotted() {
    names(&[
        ("users_list", Read),
        ("deploy_plan_get", Read),
        ("deploy_and_get", Destructive),
        ("update_get_status", Write),
        ("message_list", Read),
        ("issue_read", Read),
        ("web_search", Read),
        ("order_status", Read),
        ("users.messages.list", Read),
        ("users.messages.trash", Destructive),
        ("repos.contents.get", Read),
        ("mail.v1.folder.list", Read),
        ("report.v1.rule.get", Read),
        ("chat.postMessage", Destructive),
        ("issue_create", Write),
        ("list_delete", Destructive),
        ("view_create", Write),
        ("list_update", Write),
        ("comments_create", Destructive),
        ("user_info", Read),
        ("server_status", Read),
        ("post_status", Destructive),
        ("email_summary", Destructive),
    ]);
}

#[test]
fn nouns_that_are_verbs_elsewhere() {
    names(&[
        ("list_post_updates", Read),
        ("retrieve_async_query_status", Read),
        ("get_order", Read),
        ("get_update", Read),
        ("list_import_jobs", Read),
        ("get_upload_status", Read),
        ("get_delete_status", Read),
        ("list_pull_requests", Read),
        ("search_messages", Read),
        ("list_blocked_users", Read),
        ("get_recently_deleted_items", Read),
        ("order_pizza", Destructive),
        ("message_user", Destructive),
        ("comment_on_issue", Destructive),
        ("log_event", Write),
        ("tag_image", Write),
        ("book_flight", Destructive),
    ]);
}

#[test]
fn conjunctions_and_adjectives() {
    names(&[
        ("get_or_create_user", Write),
        ("get_or_create", Write),
        ("search_and_replace", Destructive),
        ("find_and_delete", Destructive),
        ("read_then_archive", Write),
        ("list_users_and_groups", Read),
        ("mark_all_as_read", Write),
        ("mark_as_read", Write),
        ("set_read_status", Write),
        ("send_read_receipt", Destructive),
        ("add_to_list", Write),
        ("find_replace", Destructive),
        ("list_property_for_sale", Destructive),
    ]);
}

#[test]
fn changes() {
    names(&[
        ("post_message", Destructive),
        ("send_email", Destructive),
        ("pay_invoice", Destructive),
        ("transfer_funds", Destructive),
        ("place_order", Destructive),
        ("make_payment", Destructive),
        ("modify_order", Destructive),
        ("cancel_subscription", Destructive),
        ("drop_table", Destructive),
        ("merge_pull_request", Destructive),
        ("invite_user", Destructive),
        ("approve_request", Destructive),
        ("restore_backup", Destructive),
        ("create_draft", Write),
        ("create_message_template", Write),
        ("create_comment", Destructive),
        ("update_issue", Write),
        ("rename_file", Write),
        ("resend_invite", Destructive),
        ("unarchive_channel", Write),
        ("bulkDelete", Destructive),
        ("check_in", Write),
        ("check_out", Destructive),
        ("turn_off_light", Write),
        ("shut_down_server", Destructive),
        ("sign_up", Write),
        ("HDEL", Destructive),
        ("DELETES_A_LIST", Destructive),
        ("removes_user_from_list", Destructive),
        ("updates_a_list", Write),
        ("updates_list", Read),
        ("GETS_DOMAINS", Read),
        ("deleting_list", Destructive),
        ("flag_read", Write),
        ("trash_can_empty", Destructive),
        ("bump_ttl", Unknown),
        ("bump_ver", Unknown),
        ("reticulate_display", Unknown),
        ("create_purchase_order", Destructive),
        ("create_blog_post", Destructive),
    ]);
}

#[test]
fn downloads_and_exports_write_files() {
    names(&[
        ("download_file", Write),
        ("export_report", Write),
        ("attachment_download", Write),
        ("get_download_url", Read),
        ("list_exports", Read),
    ]);
    let saves = tool("get_image", "", r#"{"properties":{"id":{},"save_path":{"type":"string"}}}"#, "null");
    assert_eq!((of(&saves).effect, codes(&of(&saves))[0]), (Write, "argument-file"));
    let says = tool("get_media", "Gets the media and saves it to disk.", "{}", "null");
    assert_eq!(of(&says).effect, Write);
}

#[test]
fn silence_changes() {
    names(&[
        ("kv", Unknown),
        ("frobnicate", Unknown),
        ("frobnicate_list", Unknown),
        ("reticulate_list", Unknown),
        ("process_list", Read),
        ("handle_list", Unknown),
        ("generate_report", Unknown),
        ("summarize_thread", Unknown),
        ("query", Read),
        ("notifications", Unknown),
        ("sendmail2", Destructive),
        ("xyzzy2000", Unknown),
        ("", Unknown),
        ("___", Unknown),
        ("🙂", Unknown),
    ]);
    let found = of_name("frobnicate");
    assert_eq!(codes(&found), ["default"]);
    assert_eq!(found.evidence[0].says, "nothing says it only reads");
    assert!(
        found
            .silence
            .unwrap()
            .starts_with("[[reads]]\nserver = \"acme\"\ntool = \"frobnicate\"\ndefinition = \"sha256:")
    );
}

#[test]
fn what_is_given_back() {
    names(&[
        // Adjectives and questions in front of it.
        ("similar_artists", Read),
        ("available_rooms", Read),
        ("cheapest_flights", Read),
        ("weekly_rainfall", Read),
        ("who_owns_domain", Read),
        ("what_to_cook", Read),
        ("top_scorers", Read),
        // Nouns for what is told about something, last, or first as a plural.
        ("tide_times_reference", Read),
        ("engine_specifications", Read),
        ("repo_dependencies", Read),
        ("page_outline", Read),
        ("reports_revenue", Read),
        ("analytics_by_country", Read),
        ("page_screenshot", Read),
        ("take_screenshot", Read),
        // Looked up by something.
        ("museum_by_id", Read),
        ("recipes_by_ingredient", Read),
        ("frobnicate_by_id", Unknown),
        ("delete_by_id", Destructive),
        // A word that no list knows, in front of "list".
        ("zorble_list", Read),
        ("embellish_list", Unknown),
        ("zorble_scan", Read),
        // Nouns that are verbs elsewhere, behind a word of reading.
        ("get_author_photo", Read),
        ("get_refresh_token", Read),
        ("list_claims", Read),
        ("list_rewrites", Read),
        ("get_market_movers", Read),
        ("get_install_count", Read),
        ("claim_coupon", Write),
        ("mover_archivo", Write),
        ("get_and_rewrites", Destructive),
        ("kill_process", Destructive),
        // How far something is that takes time.
        ("backup_status", Read),
        ("import_progress", Read),
        ("backup_database", Write),
        ("update_status", Write),
        // Orders, whatever stands last.
        ("log_results", Write),
        ("record_temperature", Write),
        ("schedule_reports", Write),
        ("run_diagnostics", Unknown),
        ("run_zorble_scan", Unknown),
        ("run_port_scan", Unknown),
        ("schedule_port_scan", Write),
        ("order_list", Read),
        ("book_itinerary", Destructive),
        ("reset_dependencies", Destructive),
    ]);
}

#[test]
fn a_plural_alone_clears_where_the_arguments_only_pick() {
    let with = |name: &str, properties: &str| {
        of(&tool(name, "", &format!(r#"{{"type":"object","properties":{{{properties}}}}}"#), "null")).effect
    };
    assert_eq!(with("museum_exhibits", r#""museum_id":{},"page_size":{},"include_closed":{}"#), Read);
    assert_eq!(with("museum_exhibits", ""), Read);
    assert_eq!(with("Museums", r#""cursor":{}"#), Read);
    // An argument that holds something, or names the very thing that is acted on, may be what is set or done.
    for properties in [
        r#""museum_id":{},"content":{}"#,
        r#""exhibit_id":{}"#,
        r#""id":{}"#,
        r#""brightness":{}"#,
        r#""name":{}"#,
        r#""entity_id":{}"#,
    ] {
        assert_eq!(with("museum_exhibits", properties), Unknown, "{properties}");
    }
    // So may a single thing, one that reaches people, one that is a verb too, and one beside a verb that says nothing.
    for name in [
        "scene",
        "museum_notifications",
        "museum_orders",
        "museum_backups",
        "process_exhibits",
        "frob_exhibits",
    ] {
        assert_ne!(with(name, r#""page":{}"#), Read, "{name}");
    }
    assert_eq!(of(&tool("museum_exhibits", "", "{}", "null")).effect, Unknown, "arguments that nobody knows");
}

#[test]
fn to_convert_what_is_given_works_something_out() {
    let with = |name: &str, properties: &str| {
        of(&tool(name, "", &format!(r#"{{"properties":{{{properties}}}}}"#), "null")).effect
    };
    assert_eq!(with("convert_csv_to_json", r#""text":{}"#), Read);
    assert_eq!(with("convert_csv_to_json", r#""input_path":{}"#), Unknown);
    assert_eq!(with("convert_note", r#""note_id":{}"#), Unknown);
    assert_eq!(with("convert_text_to_speech", r#""text":{}"#), Unknown);
    assert_eq!(with("convert_and_send", r#""text":{}"#), Destructive);
    assert_eq!(with("resolve_hostname", r#""host":{}"#), Read);
    assert_eq!(with("resolve_ticket", r#""ticket":{}"#), Write);
    assert_eq!(with("run_promql", r#""query":{}"#), Read);
    assert_eq!(with("run_sql", r#""query":{}"#), Unknown);
}

#[test]
fn what_cannot_be_taken_back() {
    names(&[
        // Reaches people as soon as it starts.
        ("push_message", Destructive),
        ("trigger_campaign", Destructive),
        ("start_call", Destructive),
        ("schedule_announcement", Destructive),
        ("trigger_build", Write),
        // Stays where it is written.
        ("append_ledger_entry", Destructive),
        ("add_ledger_record", Destructive),
        ("append_row", Write),
        // Costs money.
        ("create_loan", Destructive),
        ("create_locate", Destructive),
        ("renew_certificate", Destructive),
        ("assume_role", Destructive),
        ("endorse_candidate", Destructive),
        ("retract_statement", Destructive),
        ("bulk_deletion", Destructive),
        ("get_deletion_status", Read),
    ]);
    let described = |name: &str, text: &str| of(&tool(name, text, "{}", "null")).effect;
    assert_eq!(described("start_journey", "Starts a journey to send the welcome mails."), Destructive);
    assert_eq!(described("set_field", "Set the field or remove it."), Destructive);
    assert_eq!(described("set_field", "Set the field without going on to remove the old one."), Write);
    assert_eq!(described("add_entry", "Adds a tamper-proof entry."), Destructive);
    // Only beside a name that changes something: of a read, the clause is about something else.
    assert_eq!(described("get_page", "Get a page, for instance to delete it."), Read);
}

#[test]
fn a_description_that_is_a_request() {
    let described = |name: &str, text: &str| of(&tool(name, text, "{}", "null")).effect;
    assert_eq!(described("get_page", "DELETE /pages/{id}"), Destructive);
    assert_eq!(described("frobnicate", "PATCH /pages/{id}/format"), Unknown);
    assert_eq!(described("get_page", "PUT /pages/{id}"), Write);
    assert_eq!(described("get_page", "GET /pages/{id}"), Read);
    assert_eq!(described("search_pages", "POST /pages/search"), Read);
    let trusting = Policy::from_toml("[[trust]]\nserver = \"acme\"\n").unwrap();
    let lies = tool("format_page", "PATCH /pages/{id}/format", "{}", r#"{"readOnlyHint":true}"#);
    assert_ne!(classify("acme", &lies, None, &trusting).effect, Read);
}

#[test]
fn what_can_do_anything() {
    names(&[
        ("run_command", Unknown),
        ("execute_sql", Unknown),
        ("eval", Unknown),
        ("manage_users", Unknown),
        ("call_api", Unknown),
        ("http_request", Unknown),
        ("graphql", Unknown),
        ("read_query", Unknown),
        ("bash", Unknown),
    ]);
}

#[test]
fn the_card_says_why() {
    let post = of_name("slack_post_message");
    assert_eq!(post.evidence[0].code, "name-verb-send");
    assert_eq!(post.evidence[0].says, "sends (name verb \"post\")");
    assert_eq!(post.evidence[0].effect, Destructive);
    assert_eq!(post.silence, None);
    let comment = of_name("create_comment");
    assert_eq!(codes(&comment), ["name-noun-people", "name-verb-create"]);
    assert_eq!(of_name("list_files").evidence[0].says, "reads (name verb \"list\")");
}

const KV: &str = r#"{"type":"object","properties":{"action":{"enum":["list","get","delete"]},"key":{}}}"#;

fn with_action(definition: &Definition, action: Template) -> Classification {
    let args =
        Template::object(vec![("action".into(), action), ("key".into(), Template::Lit(Value::from("k")))]);
    classify("kv", definition, Some(&args.unwrap()), &Policy::default())
}

#[test]
fn a_literal_of_a_closed_list_answers_for_the_call() {
    let destroys = r#"{"destructiveHint":true,"readOnlyHint":false}"#;
    for kv in [tool("kv", "", KV, "null"), tool("manage_kv", "Creates, lists and deletes keys", KV, destroys)]
    {
        let literal = |text: &str| with_action(&kv, Template::Lit(Value::from(text)));
        assert_eq!(literal("list").effect, Read, "{}", kv.name);
        assert_eq!(literal("list").evidence[0].says, "reads (argument action \"list\")");
        assert_eq!(literal("delete").effect, Destructive);
        assert_ne!(literal("clear").effect, Read);
        let mode = Ref { source: Source::Input("mode".into()), path: Vec::new() };
        assert_ne!(with_action(&kv, Template::Ref(mode.clone())).effect, Read);
        let parts = Template::text(vec![Part::Lit("li".into()), Part::Ref(mode)]);
        assert_ne!(with_action(&kv, parts).effect, Read);
        assert_ne!(of(&kv).effect, Read);
    }
    let kv = tool("kv", "", KV, "null");
    assert_eq!(of(&kv).evidence[0].says, "deletes (argument action may be \"delete\")");
    // A name that says what it does still does.
    let purge = tool("purge_kv", "", KV, "null");
    assert_eq!(with_action(&purge, Template::Lit(Value::from("list"))).effect, Destructive);
    // Values whose list is open say nothing.
    let open = tool("kv", "", r#"{"properties":{"action":{"type":"string"}}}"#, "null");
    assert_eq!(with_action(&open, Template::Lit(Value::from("list"))).effect, Unknown);
    // A list that only labels things is no list of actions.
    let labels = tool("list_events", "", r#"{"properties":{"type":{"enum":["delete","create"]}}}"#, "null");
    assert_eq!(of(&labels).effect, Read);
}

#[test]
fn a_closed_list_that_only_reads_clears_whatever_is_chosen() {
    let schema = r#"{"properties":{"action":{"enum":["get","list","list_mine"]}}}"#;
    assert_eq!(of(&tool("repo_branch", "", schema, "null")).effect, Read);
    assert_eq!(of(&tool("run", "", schema, "null")).effect, Read);
    // What the server says of the tool still counts.
    assert_eq!(of(&tool("repo_branch", "Deletes branches", schema, "null")).effect, Destructive);
    assert_eq!(of(&tool("repo_branch", "", schema, r#"{"readOnlyHint":false}"#)).effect, Write);
    assert_eq!(of(&tool("delete_branch", "", schema, "null")).effect, Destructive);
    let one_writes = r#"{"properties":{"action":{"enum":["get","list","reorder"]}}}"#;
    assert_eq!(of(&tool("backlog", "", one_writes, "null")).effect, Write);
    let by_reference =
        r##"{"$defs":{"A":{"enum":["get","drop"]}},"properties":{"operation":{"$ref":"#/$defs/A"}}}"##;
    assert_eq!(of(&tool("get_table", "", by_reference, "null")).effect, Destructive);
    let branches =
        r#"{"oneOf":[{"properties":{"op":{"const":"get"}}},{"properties":{"op":{"const":"erase"}}}]}"#;
    assert_eq!(of(&tool("get_item", "", branches, "null")).effect, Destructive);
}

#[test]
fn text_that_is_run_never_clears() {
    for (name, description, schema) in [
        ("read_rows", "", r#"{"properties":{"sql":{}}}"#),
        ("explain_plan", "", r#"{"properties":{"sqlQuery":{}}}"#),
        ("search", "Searches with a Cypher statement", r#"{"properties":{"query":{}}}"#),
        ("query", "Run a read-only SQL query", r#"{"properties":{"sql":{}}}"#),
        ("get_output", "", r#"{"properties":{"command":{}}}"#),
        ("inspect", "", r#"{"properties":{"script":{}}}"#),
        ("list_resources", "", r#"{"properties":{"method":{"enum":["GET","POST"]},"path":{}}}"#),
    ] {
        let definition = tool(name, description, schema, "null");
        assert_eq!(of(&definition).effect, Unknown, "{name}");
        let args = Template::Lit(
            Value::parse(r#"{"sql":"SELECT 1","query":"SELECT 1","command":"ls","method":"GET"}"#).unwrap(),
        );
        let called = classify("db", &definition, Some(&args), &Policy::default());
        assert_eq!(called.effect, Unknown, "{name} with a harmless beginning");
    }
    // A query that is a search text is none.
    let search = tool("search_papers", "Search papers by keyword", r#"{"properties":{"query":{}}}"#, "null");
    assert_eq!(of(&search).effect, Read);
    let records = tool("query_metrics", "", r#"{"properties":{"from":{},"to":{}}}"#, "null");
    assert_eq!(of(&records).effect, Read);
    let text = tool("query_metrics", "", r#"{"properties":{"query":{}}}"#, "null");
    assert_eq!(of(&text).effect, Unknown);
}

#[test]
fn switches_of_change() {
    let dry = tool("list_stale", "", r#"{"properties":{"dry_run":{"type":"boolean"}}}"#, "null");
    assert_eq!(codes(&of(&dry))[0], "argument-switch");
    let send = tool("get_report", "", r#"{"properties":{"send_email":{"type":"boolean"}}}"#, "null");
    assert_eq!(of(&send).effect, Write);
    let harmless = tool("get_report", "", r#"{"properties":{"include_deleted":{"type":"boolean"}}}"#, "null");
    assert_eq!(of(&harmless).effect, Read);
    let tidy = tool("search_web", "", r#"{"properties":{"remove_duplicates":{"type":"boolean"}}}"#, "null");
    assert_eq!(of(&tidy).effect, Read);
}

#[test]
fn hints_raise_and_clear_only_where_trusted() {
    let trusting = Policy::from_toml("[[trust]]\nserver = \"acme\"\n").unwrap();
    let reads = r#"{"readOnlyHint":true}"#;
    let silent = tool("frobnicate", "", "{}", reads);
    assert_eq!(of(&silent).effect, Unknown);
    assert_eq!(classify("acme", &silent, None, &trusting).effect, Read);
    assert_eq!(classify("other", &silent, None, &trusting).effect, Unknown);

    let lies = tool("delete_all", "", "{}", reads);
    for policy in [&Policy::default(), &trusting] {
        let found = classify("acme", &lies, None, policy);
        assert_eq!((found.effect, found.contradiction), (Destructive, true));
    }
    let described = tool("frobnicate", "Deletes every record.", "{}", reads);
    assert_eq!(classify("acme", &described, None, &trusting).effect, Destructive);

    let raised = tool("get_thing", "", "{}", r#"{"readOnlyHint":false}"#);
    assert_eq!((of(&raised).effect, of(&raised).contradiction), (Write, true));
    let destroys = tool("create_thing", "", "{}", r#"{"readOnlyHint":false,"destructiveHint":true}"#);
    assert_eq!((of(&destroys).effect, of(&destroys).contradiction), (Destructive, false));
    // What is not known is not made harmless by what its server says.
    let mild =
        tool("frobnicate", "Creates a widget", "{}", r#"{"readOnlyHint":false,"destructiveHint":false}"#);
    assert_eq!((of(&mild).effect, of(&mild).silence), (Unknown, None));
    assert_eq!(codes(&of(&mild)), ["default", "description-verb-create", "hint-not-read-only"]);
    let odd = tool("get_thing", "", "{}", r#"{"readOnlyHint":"yes","destructiveHint":1,"title":7}"#);
    assert_eq!(of(&odd).effect, Read);
}

#[test]
fn descriptions_raise_and_never_clear() {
    let described = |name: &str, text: &str| of(&tool(name, text, "{}", "null")).effect;
    for (text, effect) in [
        ("Deletes the page.", Destructive),
        ("Permanently deletes the page.", Destructive),
        ("This tool deletes the page", Destructive),
        ("Allows you to send a message to a user", Destructive),
        ("Gets the messages and marks them as read.", Write),
        ("Get the messages and delete them from the server", Destructive),
        ("Gets the file. Creates a public link to it.", Write),
        ("Looks up the page. This cannot be undone.", Destructive),
        ("Gets the page. This can be undone; it is not destructive.", Read),
        ("Get a page. To remove one use delete_page.", Read),
        ("Lists the users who can create and delete projects.", Read),
        ("Lists posts, updates and comments.", Read),
        ("Search for orders to cancel or refund", Read),
        ("START HERE: the list of pages", Read),
        ("删除指定的页面", Destructive),
        ("【页面】用于批量创建页面", Write),
        ("获取已删除的页面列表", Read),
        ("查询审批并返回更新时间", Read),
        ("[Suite]-Docs-Pages-List pages-Gets the list of pages", Read),
        ("[Suite]-Docs-Pages-Delete a page-Deletes a page", Destructive),
        ("[Suite]-文档-页面-删除页面-删除一个页面", Destructive),
        ("[Suite]-导入-页面-查询页面-查询一个页面", Read),
        ("Elimina una página", Destructive),
        ("Eliminar una página", Destructive),
        ("Löschen der Seite", Destructive),
        ("Löscht eine Seite", Destructive),
        ("Supprimer la page", Destructive),
        ("Supprime la page", Destructive),
        ("Удалить страницу", Destructive),
        ("ページを削除します", Destructive),
        ("페이지를 삭제합니다", Destructive),
        ("Obtiene una página", Read),
        ("Holt eine Seite", Read),
    ] {
        assert_eq!(described("get_page", text), effect, "{text}");
        assert_ne!(described("frobnicate", text), Read, "{text}");
    }
    let title = tool("get_page", "", "{}", r#"{"title":"Delete page"}"#);
    assert_eq!(codes(&of(&title))[0], "title-verb-delete");
}

#[test]
fn names_in_other_languages() {
    names(&[
        ("obtener_clientes", Read),
        ("buscarProductos", Read),
        ("eliminar_cliente", Destructive),
        ("enviar_correo", Destructive),
        ("crear_factura", Write),
        ("listar_pedidos", Read),
        ("löschen_datei", Destructive),
        ("rechercher_produits", Read),
        ("supprimer_client", Destructive),
        ("получить_отчет", Read),
        ("удалить_отчет", Destructive),
        ("查询天气", Read),
        ("获取用户列表", Read),
        ("删除用户", Destructive),
        ("查询并删除用户", Destructive),
        ("发送消息", Destructive),
        ("ファイル検索", Read),
        ("ファイル削除", Destructive),
        ("chaxun_tianqi", Read),
    ]);
}

#[test]
fn a_server_name_in_front_changes_nothing_and_hides_nothing() {
    let at = |server: &str, name: &str| {
        classify(server, &tool(name, "", r#"{"properties":{"id":{}}}"#, "null"), None, &Policy::default())
            .effect
    };
    assert_eq!(at("github", "github_list_issues"), Read);
    assert_eq!(at("github", "mcp__github__list_issues"), Read);
    assert_eq!(at("digital-ocean", "digital-ocean-frobnicate-list"), Unknown);
    assert_eq!(at("digital-ocean", "digital-ocean-droplet-list"), Read);
    assert_eq!(at("fetch", "fetch_post"), Destructive);
    assert_eq!(at("search", "search_issues"), Read);
    assert_eq!(at("delete-service", "delete_file"), Destructive);
    assert_eq!(at("list-tools", "list_update"), Write);
    // A verb of its name in front of a verb of reading is its name; a short form of its name is one too.
    assert_eq!(at("photo-protect", "protect_get_camera"), Read);
    assert_eq!(at("photo-protect", "protect_camera"), Write);
    assert_eq!(at("photo-protect", "protect_protect_get_camera"), Write);
    assert_eq!(at("update", "update_list"), Write);
    assert_eq!(at("gadgetry", "gad_reports_sales"), Read);
}
