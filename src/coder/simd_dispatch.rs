//! One function compiled twice, with AVX2 and without; the processor decides which one runs.

/// Calls a function that is generic over a vector type: with the first type where the processor has
/// AVX2, with the second one elsewhere. One without a vector type is only compiled twice.
///
/// All that the function calls must be inlined into it, so that it is compiled for either.
macro_rules! widest {
    ($with:ident::<$avx2:ty, $baseline:ty>($($name:ident: $kind:ty),*) -> $outcome:ty) => {
        widest!(@ $with::<$avx2>, $with::<$baseline>, ($($name: $kind),*) -> $outcome)
    };
    ($with:ident($($name:ident: $kind:ty),*) -> $outcome:ty) => {
        widest!(@ $with, $with, ($($name: $kind),*) -> $outcome)
    };
    (@ $fast:expr, $plain:expr, ($($name:ident: $kind:ty),*) -> $outcome:ty) => {{
        #[cfg(target_arch = "x86_64")]
        if $crate::coder::simd_dispatch::has_avx2() {
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
            fn with_avx2($($name: $kind),*) -> $outcome {
                $fast($($name),*)
            }
            // SAFETY: the processor has all that the function asks for.
            #[allow(unsafe_code)]
            return unsafe { with_avx2($($name),*) };
        }
        $plain($($name),*)
    }};
}
pub(super) use widest;

/// Whether this processor has AVX2, and what else is compiled for with it, here and where others
/// dispatch.
#[cfg(target_arch = "x86_64")]
pub fn has_avx2() -> bool {
    is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
}
