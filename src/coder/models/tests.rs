//! Models survive a round trip; damage is an error or other models.

use super::*;

fn counts(scale: u32) -> SymbolCounts {
    let mut counts = SymbolCounts::new();
    let number = |leaf: usize, symbol: usize| {
        let noise = (leaf as u32 * 16 + symbol as u32).wrapping_mul(2_654_435_761) >> 20;
        (noise % 97 * scale)
            .checked_shr(symbol as u32 * (1 + leaf as u32 % 5))
            .unwrap_or(0)
    };
    let fill = |tables: &mut [Counts]| {
        for (leaf, table) in tables.iter_mut().enumerate() {
            *table = std::array::from_fn(|symbol| number(leaf, symbol));
        }
    };
    fill(&mut *counts.runs);
    fill(&mut *counts.ranks);
    fill(&mut counts.extra);
    counts.present = std::array::from_fn(|byte| byte % 3 == 1);
    counts
}

fn classes(tables: &ClassTables) -> usize {
    tables
        .class_of_leaf
        .iter()
        .max()
        .map_or(0, |&class| usize::from(class) + 1)
}

#[test]
fn models_survive() {
    for scale in [0, 1, 30, 10_000] {
        let mut coded = b"before".to_vec();
        let models = Models::encode(&counts(scale), &mut coded);
        assert_eq!(Models::decode(&coded[6..]).as_ref(), Ok(&models));
        assert_eq!(models.alphabet.len(), 85);
    }
}

#[test]
fn rare_contexts_share_tables_and_frequent_ones_do_not() {
    let chosen = |scale| {
        let models = Models::encode(&counts(scale), &mut Vec::new());
        [classes(&models.runs), classes(&models.ranks)]
    };
    assert_eq!(chosen(0), [1, 1]);
    let [few, many] = [chosen(1), chosen(10_000)];
    assert!(
        few[0] < many[0] && few[1] < many[1] && many[1] > 200,
        "{few:?} {many:?}"
    );
}

#[test]
fn damage_is_a_flaw_or_other_models() {
    let mut coded = Vec::new();
    let _ = Models::encode(&counts(30), &mut coded);
    for cut in (0..coded.len()).step_by(17) {
        assert!(Models::decode(&coded[..cut]).is_err());
    }
    for bit in (0..8 * coded.len()).step_by(11) {
        let mut damaged = coded.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let _ = Models::decode(&damaged);
    }
    assert!(Models::decode(&[&coded[..], &[0]].concat()).is_err());
}
