//! Dispatch between a function compiled with AVX2 and one compiled without, by the processor.

/// Calls a function that is generic over a vector type. It is called with the first type if the
/// processor has AVX2, and with the second one otherwise. A function without a vector type is only
/// compiled twice.
///
/// All functions that it calls must be inlined into it, so that they are compiled for both.
macro_rules! widest {
    ($with:ident::<$avx2:ty, $baseline:ty>($($name:ident: $kind:ty),*) -> $outcome:ty) => {
        widest!(@ $with::<$avx2>, $with::<$baseline>, ($($name: $kind),*) -> $outcome)
    };
    ($with:ident($($name:ident: $kind:ty),*) -> $outcome:ty) => {
        widest!(@ $with, $with, ($($name: $kind),*) -> $outcome)
    };
    (@ $fast:expr, $plain:expr, ($($name:ident: $kind:ty),*) -> $outcome:ty) => {{
        #[cfg(target_arch = "x86_64")]
        if $crate::base::simd_dispatch::has_avx2() {
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
            fn with_avx2($($name: $kind),*) -> $outcome {
                $fast($($name),*)
            }
            // SAFETY: the processor has all features that the function needs.
            #[allow(unsafe_code)]
            return unsafe { with_avx2($($name),*) };
        }
        $plain($($name),*)
    }};
}
pub(crate) use widest;

/// Returns true if this processor has AVX2 and the other features that code is compiled for with
/// it, here and elsewhere.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_avx2() -> bool {
    is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
}
