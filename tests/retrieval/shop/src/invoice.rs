pub struct Invoice {
    pub number: u64,
    pub lines: Vec<(String, u64)>,
}

impl Invoice {
    /// The last digit makes typing errors visible.
    pub fn check_digit(&self) -> u64 {
        let mut sum = 0;
        let mut rest = self.number;
        while rest > 0 {
            sum += rest % 10;
            rest /= 10;
        }
        (10 - sum % 10) % 10
    }

    pub fn to_csv(&self) -> String {
        self.lines.iter().map(|(what, cents)| format!("{what};{cents}\n")).collect()
    }
}
