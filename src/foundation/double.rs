//! Doubles in decimal: reads the nearest double, writes the fewest digits, rounds exactly.
//!
//! It replaces the standard library's parsing and formatting of `f64`, and adds Python's `round` and
//! `statistics.mean` (docs/decisions/0005-own-writer-and-doubles.md).
//!
//! Everything is based on exact arithmetic with big integers instead of the standard library's tables of
//! powers, which would be a tenth of the WebAssembly module. Numbers of up to 15 digits, which is nearly all,
//! take Clinger's fast path and need none of it.
//!
//! Complexity: O(n) for the fast path; otherwise O(n²) in the number of digits (at most 800 are used) and in the
//! magnitude of the exponent.
//!
//! Sources: Clinger, "How to read floating point numbers accurately", 1990; Steele and White, "How to print
//! floating-point numbers accurately", 1990.

/// More significant digits than any double, or any midpoint between two doubles, has.
const MAX_DIGITS: usize = 800;

/// The double nearest to a decimal number, ties to even; infinite beyond the range of doubles.
///
/// Reads `[+-]? digits [. digits] [(e|E) [+-]? digits]` with a digit on either side of the point;
/// no words such as `inf`.
#[must_use]
#[inline(never)]
pub fn read(text: &str) -> Option<f64> {
    let (negative, rest) = sign(text.as_bytes());
    let (whole, rest) = digits(rest);
    let (fraction, rest) = match rest.split_first() {
        Some((b'.', rest)) => digits(rest),
        _ => (&[][..], rest),
    };
    let exponent = match rest.split_first() {
        None => 0,
        Some((b'e' | b'E', rest)) => exponent(rest)?,
        Some(_) => return None,
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let exponent = exponent.saturating_sub(i64::try_from(fraction.len()).unwrap_or(i64::MAX));
    let magnitude = nearest(whole.iter().chain(fraction).map(|digit| digit - b'0'), exponent);
    Some(if negative { -magnitude } else { magnitude })
}

fn sign(text: &[u8]) -> (bool, &[u8]) {
    match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, text),
    }
}

fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    text.split_at_checked(length).unwrap_or_default()
}

fn exponent(text: &[u8]) -> Option<i64> {
    let (negative, text) = sign(text);
    let (digits, rest) = digits(text);
    if digits.is_empty() || !rest.is_empty() {
        return None;
    }
    let size = digits
        .iter()
        .fold(0_i64, |size, digit| size.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    Some(if negative { -size } else { size })
}

/// The double nearest to `digits · 10^exponent`.
fn nearest(digits: impl Iterator<Item = u8> + Clone, exponent: i64) -> f64 {
    const POWERS: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
        1e18, 1e19, 1e20, 1e21, 1e22,
    ];
    const EXACT: u64 = 1 << f64::MANTISSA_DIGITS;
    let small = digits.clone().try_fold(0_u64, |number, digit| {
        Some(number * 10 + u64::from(digit)).filter(|number| *number <= EXACT)
    });
    let power = usize::try_from(exponent.unsigned_abs()).ok().and_then(|power| POWERS.get(power));
    match (small, power) {
        // Both operands are exact, so a single correctly rounded operation gives the correctly rounded result.
        (Some(number), Some(power)) if exponent < 0 => number as f64 / power,
        (Some(number), Some(power)) => number as f64 * power,
        _ => nearest_exactly(digits, exponent),
    }
}

#[cold]
fn nearest_exactly(digits: impl Iterator<Item = u8>, exponent: i64) -> f64 {
    let mut digits = digits.skip_while(|digit| *digit == 0);
    let mut number = BigUint::default();
    let mut count = 0_i64;
    for digit in digits.by_ref().take(MAX_DIGITS) {
        number.multiply_add(10, u32::from(digit));
        count += 1;
    }
    let mut dropped = 0_i64;
    let mut inexact = false;
    for digit in digits {
        dropped += 1;
        inexact |= digit != 0;
    }
    let exponent = exponent.saturating_add(dropped);
    // Halfway to the smallest double is beyond 10^-324, the largest double below 10^309.
    let magnitude = exponent.saturating_add(count);
    if count == 0 || magnitude < -324 {
        return 0.0;
    }
    if magnitude > 310 {
        return f64::INFINITY;
    }
    let mut power = u32::try_from(exponent.unsigned_abs()).unwrap_or(u32::MAX);
    let mut binary_exponent = 0;
    if exponent >= 0 {
        number.scale(power, 10);
    } else {
        // 10 < 2^(10/3 + 1/100), so the quotient keeps at least 64 bits.
        let limbs = (power * 10 / 3 + power / 100 + 96) / 32;
        number.shift_limbs(limbs as usize);
        binary_exponent = -i64::from(limbs * 32);
        while power > 0 {
            let step = power.min(9);
            inexact |= number.divide(10_u32.pow(step)) != 0;
            power -= step;
        }
    }
    number.nearest(binary_exponent, inexact)
}

/// An integer of any size: 32 bits per limb, the lowest first, the highest not 0.
#[derive(Default)]
struct BigUint(Vec<u32>);

impl BigUint {
    fn new(number: u64) -> Self {
        let mut limbs = vec![number as u32, (number >> 32) as u32];
        while limbs.pop_if(|limb| *limb == 0).is_some() {}
        Self(limbs)
    }

    fn multiply_add(&mut self, factor: u32, summand: u32) {
        let mut carry = u64::from(summand);
        for limb in &mut self.0 {
            carry += u64::from(*limb) * u64::from(factor);
            *limb = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    /// Multiplies by `base^power`.
    fn scale(&mut self, mut power: u32, base: u32) {
        let step = u32::MAX.ilog(base);
        while power > 0 {
            let part = power.min(step);
            self.multiply_add(base.pow(part), 0);
            power -= part;
        }
    }

    /// Multiplies by 2^(32 · limbs).
    fn shift_limbs(&mut self, limbs: usize) {
        self.0.splice(0..0, std::iter::repeat_n(0, limbs));
    }

    /// Divides and returns the remainder.
    fn divide(&mut self, divisor: u32) -> u32 {
        let mut rest = 0_u64;
        for limb in self.0.iter_mut().rev() {
            rest = rest << 32 | u64::from(*limb);
            *limb = (rest / u64::from(divisor)) as u32;
            rest %= u64::from(divisor);
        }
        while self.0.pop_if(|limb| *limb == 0).is_some() {}
        rest as u32
    }

    /// The double nearest to `self · 2^exponent`, or to a little more if that is `inexact`.
    fn nearest(&self, exponent: i64, mut inexact: bool) -> f64 {
        let mut limbs = self.0.iter().rev().copied();
        let mut limb = || limbs.next().unwrap_or(0);
        let (high, middle, low) = (limb(), limb(), limb());
        let zeros = high.leading_zeros();
        let leading = u128::from(high) << 64 | u128::from(middle) << 32 | u128::from(low);
        let leading = leading << zeros;
        // The 64 highest bits; the first one is 1.
        let top = (leading >> 32) as u64;
        inexact |= leading as u32 != 0 || limbs.any(|limb| limb != 0);

        let bits = self.0.len() as i64 * 32 - i64::from(zeros);
        let exponent = exponent + bits - 1;
        let precision = (exponent + 1075).min(53);
        if precision < 0 {
            return 0.0;
        }
        let cut = (64 - precision) as u32;
        let mantissa = top.checked_shr(cut).unwrap_or(0);
        let rest = top - mantissa.checked_shl(cut).unwrap_or(0);
        let half = 1_u64 << (cut - 1);
        let up = rest > half || rest == half && (inexact || mantissa & 1 == 1);
        let mantissa = mantissa + u64::from(up);
        if exponent > 1023 {
            return f64::INFINITY;
        }
        // The leading bit of a normal mantissa counts as one in the exponent field, and so does a carry out of
        // the mantissa.
        let field = if precision == 53 { (exponent + 1022) as u64 } else { 0 };
        f64::from_bits((field << 52) + mantissa)
    }
}

/// The significand and the exponent of a finite double without its sign: `significand · 2^exponent`.
fn binary(number: f64) -> (u64, i32) {
    let bits = number.to_bits();
    let field = (bits >> 52 & 0x7FF) as i32;
    let fraction = bits & ((1 << 52) - 1);
    (if field == 0 { fraction } else { fraction | 1 << 52 }, field.max(1) - 1075)
}

/// The mean of finite numbers as in Python's `statistics.mean`: the exact sum divided by the count, rounded
/// once. `None` for no numbers. O(n).
///
/// ```
/// use adk_metrics::foundation::double::exact_mean;
///
/// assert_eq!(exact_mean(&[0.1, 0.1, 0.1]), Some(0.1));
/// assert_eq!((0.1 + 0.1 + 0.1) / 3.0, 0.10000000000000002);
/// ```
#[must_use]
pub fn exact_mean(numbers: &[f64]) -> Option<f64> {
    /// The exponent of the smallest double, which is the unit of the sum.
    const SMALLEST: i32 = -1074;
    /// For 2³² times the largest double: 1024 + 1074 + 32 bits.
    const LIMBS: usize = 67;
    let count = u32::try_from(numbers.len()).ok().filter(|count| *count > 0)?;
    let (mut positive, mut negative) = ([0_u32; LIMBS], [0_u32; LIMBS]);
    for number in numbers {
        let (significand, exponent) = binary(*number);
        let shift = (exponent - SMALLEST) as usize;
        let sum = if number.is_sign_negative() { &mut negative } else { &mut positive };
        let mut carry = u128::from(significand) << (shift % 32);
        for limb in sum.iter_mut().skip(shift / 32) {
            carry += u128::from(*limb);
            *limb = carry as u32;
            carry >>= 32;
        }
    }
    let is_negative = positive.iter().rev().lt(negative.iter().rev());
    let (more, less) = if is_negative { (negative, positive) } else { (positive, negative) };
    let mut borrow = 0_i64;
    let difference = more.iter().zip(less).map(|(more, less)| {
        borrow += i64::from(*more) - i64::from(less);
        let limb = borrow as u32;
        borrow >>= 32;
        limb
    });
    // Two more limbs provide the digits that decide how a quotient near the smallest double is rounded.
    let mut quotient = BigUint([0; 2].into_iter().chain(difference).collect());
    let rest = quotient.divide(count);
    let mean =
        if quotient.0.is_empty() { 0.0 } else { quotient.nearest(i64::from(SMALLEST) - 64, rest != 0) };
    Some(if is_negative { -mean } else { mean })
}

/// A decimal number `±0.d₁d₂d₃… · 10^point`, without zeros at either end; 0 has no digits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decimal {
    is_negative: bool,
    /// Each 0 to 9.
    digits: Vec<u8>,
    point: i32,
}

impl Decimal {
    /// A whole number.
    #[must_use]
    pub fn from_integer(number: i128) -> Self {
        let digits: Vec<u8> = number.unsigned_abs().to_string().bytes().map(|digit| digit - b'0').collect();
        let point = digits.len() as i32;
        let mut number = Self { is_negative: number < 0, digits, point }.trimmed();
        if number.digits.is_empty() {
            number.point = 0;
        }
        number
    }

    /// The exact value of a finite double, without its sign.
    #[must_use]
    pub fn exact(number: f64) -> Self {
        let (significand, exponent) = binary(number);
        let zeros = significand.trailing_zeros().min(52);
        let exponent = exponent + zeros as i32;
        let mut number = BigUint::new(significand >> zeros);
        // m · 2^-e is m · 5^e · 10^-e.
        let base = if exponent < 0 { 5 } else { 2 };
        number.scale(exponent.unsigned_abs(), base);
        let mut digits = Vec::new();
        while !number.0.is_empty() {
            let mut group = number.divide(1_000_000_000);
            for _ in 0..9 {
                digits.push((group % 10) as u8);
                group /= 10;
            }
        }
        while digits.pop_if(|digit| *digit == 0).is_some() {}
        digits.reverse();
        let point = digits.len() as i32 + exponent.min(0);
        Self { is_negative: false, digits, point }.trimmed()
    }

    fn trimmed(mut self) -> Self {
        while self.digits.pop_if(|digit| *digit == 0).is_some() {}
        self
    }

    /// The nearest number with `places` decimal places, ties to even.
    #[must_use]
    pub fn rounded(&self, places: i32) -> Self {
        let length = self.point.saturating_add(places);
        let Ok(length) = usize::try_from(length) else { return Self::default() };
        let kept = self.digits.get(..length).unwrap_or(&self.digits);
        let rest = self.digits.get(length..).unwrap_or_default();
        let odd = kept.last().is_some_and(|digit| digit % 2 == 1);
        let up = match rest.split_first() {
            Some((5, after)) => odd || !after.is_empty(),
            Some((first, _)) => *first > 5,
            None => false,
        };
        let kept = Self { digits: kept.to_vec(), ..*self };
        if up { kept.next(length) } else { kept.trimmed() }
    }

    /// The next larger number with `length` digits.
    fn next(mut self, length: usize) -> Self {
        self.digits.resize(length, 0);
        while self.digits.pop_if(|digit| *digit == 9).is_some() {}
        match self.digits.last_mut() {
            Some(digit) => *digit += 1,
            None => {
                self.digits.push(1);
                self.point += 1;
            }
        }
        self
    }

    /// The nearest double.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        nearest(self.digits.iter().copied(), i64::from(self.point) - self.digits.len() as i64)
    }

    /// Whether this is the integer written with these decimal digits, without leading zeros.
    #[must_use]
    pub fn is_integer(&self, digits: &str) -> bool {
        let mut own = self.digits.iter().copied().chain(std::iter::repeat(0));
        usize::try_from(self.point).is_ok_and(|point| point == digits.len() && self.digits.len() <= point)
            && digits.bytes().all(|digit| own.next() == digit.checked_sub(b'0'))
    }

    /// Whether two numbers differ by at most a tolerance, computed exactly.
    ///
    /// ```
    /// use adk_metrics::foundation::double::Decimal;
    ///
    /// assert!(Decimal::shortest(19.9).is_within(0.1, &Decimal::shortest(20.0)));
    /// assert!(20.0 - 19.9 > 0.1);
    /// ```
    #[must_use]
    pub fn is_within(&self, tolerance: f64, other: &Self) -> bool {
        let (more, less) =
            if sign_of_sum(&[(self, 1), (other, -1)]) < 0 { (other, self) } else { (self, other) };
        sign_of_sum(&[(&Self::shortest(tolerance), 1), (more, -1), (less, 1)]) >= 0
    }

    /// The digit with the value `10^exponent`.
    fn digit(&self, exponent: i32) -> i32 {
        let digit = usize::try_from(self.point - 1 - exponent).ok().and_then(|at| self.digits.get(at));
        let digit = i32::from(digit.copied().unwrap_or_default());
        if self.is_negative { -digit } else { digit }
    }

    /// The shortest decimal that reads back as the same finite double; among several, the nearest to it.
    #[must_use]
    pub fn shortest(number: f64) -> Self {
        Self { is_negative: number.is_sign_negative(), ..Self::shortest_magnitude(number) }
    }

    fn shortest_magnitude(number: f64) -> Self {
        // 15 digits distinguish all normal doubles that have so few, so fewer need not be tried; 17 always
        // suffice.
        let first = if number.is_normal() { 15 } else { 1 };
        let number = number.abs();
        let exact = Self::exact(number);
        for length in first..17 {
            let near = exact.rounded(length - exact.point);
            if near.to_f64() == number {
                return near;
            }
            // Below a power of two doubles are denser, so that the farther end may be the right one.
            let kept = exact.digits.iter().copied().take(length as usize).collect();
            let far = Self { digits: kept, ..exact }.next(length as usize).trimmed();
            if far.to_f64() == number {
                return far;
            }
        }
        exact.rounded(17 - exact.point)
    }
}

/// The sign of a sum of up to three numbers, each added or subtracted: negative, 0 or positive.
fn sign_of_sum(terms: &[(&Decimal, i32)]) -> i32 {
    let points = terms.iter().map(|(number, _)| number.point);
    let ends = terms.iter().map(|(number, _)| number.point - number.digits.len() as i32);
    let (Some(first), Some(last)) = (points.max(), ends.min()) else { return 0 };
    let mut sum = 0;
    for exponent in (last..first).rev() {
        let digits = terms.iter().map(|(number, factor)| factor * number.digit(exponent));
        sum = sum * 10 + digits.sum::<i32>();
        // The remaining digits are less than one unit per term.
        if sum.abs() >= 3 {
            break;
        }
    }
    sum.signum()
}

/// Appends the shortest text that reads back as the same double, in JSON's grammar: `0.1`, `1.0`,
/// `1e+16`, `1.5e-7`. `null` if the number is not finite.
pub fn write(number: f64, text: &mut String) {
    if !number.is_finite() {
        text.push_str("null");
        return;
    }
    if number.is_sign_negative() {
        text.push('-');
    }
    if number == 0.0 {
        text.push_str("0.0");
        return;
    }
    let Decimal { mut digits, point, .. } = Decimal::shortest(number);
    digits.iter_mut().for_each(|digit| *digit += b'0');
    let digits = String::from_utf8(digits).unwrap_or_default();
    match point {
        1..=16 => {
            let (whole, fraction) = digits.split_at_checked(point as usize).unwrap_or((&digits, ""));
            text.push_str(whole);
            (whole.len()..point as usize).for_each(|_| text.push('0'));
            text.push('.');
            text.push_str(if fraction.is_empty() { "0" } else { fraction });
        }
        -4..=0 => {
            text.push_str("0.");
            (point..0).for_each(|_| text.push('0'));
            text.push_str(&digits);
        }
        _ => {
            let (first, rest) = digits.split_at_checked(1).unwrap_or_default();
            text.push_str(first);
            if !rest.is_empty() {
                text.push('.');
                text.push_str(rest);
            }
            text.push_str(if point > 0 { "e+" } else { "e" });
            text.push_str(&(point - 1).to_string());
        }
    }
}

/// A double in everyday notation: `30`, `0.1`, `NaN`, `-Infinity`.
#[must_use]
pub fn to_text(number: f64) -> String {
    if number.is_nan() {
        return "NaN".into();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.into();
    }
    let mut text = String::new();
    write(number, &mut text);
    match text.strip_suffix(".0") {
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests;
