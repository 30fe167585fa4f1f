use crate::sandbox::Sandbox;

#[test]
fn a_code_is_explained_by_its_page() {
    let sandbox = Sandbox::new(&[]);
    let page = include_str!("../../../../book/src/codes/output/foreign.md");
    for code in ["output::foreign", "error[output::foreign]", "[output::foreign]:"] {
        assert_eq!(sandbox.run(&["explain", code]).success(), page);
    }
}

#[test]
fn unknown_code_gets_a_suggestion() {
    let sandbox = Sandbox::new(&[]);
    for (code, near) in [("map::injective", "map::not_injective"), ("foreign", "output::foreign")] {
        let line = format!(
            "error: unknown code `{code}`; did you mean `{near}`? (`layoutc explain` lists all)\n"
        );
        assert_eq!(sandbox.run(&["explain", code]).failure(), (Some(2), line.as_str()));
    }
}

#[test]
fn without_a_code_all_are_listed_with_their_titles() {
    let ran = Sandbox::new(&[]).run(&["explain"]);
    let lines: Vec<&str> = ran.success().lines().collect();
    let mut sorted = lines.clone();
    sorted.sort_unstable();
    assert_eq!(lines, sorted);
    assert!(
        lines.iter().any(|line| line.starts_with("map::not_injective ")
            && line.ends_with("  two elements share a slot")),
        "{}",
        ran.out
    );
}
