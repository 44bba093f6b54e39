#pragma once

namespace whet {

/// Probability that Student's t with `degrees_of_freedom` > 0 is at most `t`, which may be
/// infinite.
double student_t_cdf(double t, double degrees_of_freedom);

/// The t that student_t_cdf maps to `probability`, which lies strictly between 0 and 1.
double student_t_quantile(double probability, double degrees_of_freedom);

}  // namespace whet
