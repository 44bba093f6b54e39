#include "stats/student_t.hpp"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "base/error.hpp"

namespace whet {

double student_t_cdf(double t, double degrees_of_freedom) {
  WHET_CHECK(degrees_of_freedom > 0.0, "{} degrees of freedom", degrees_of_freedom);
  WHET_CHECK(!std::isnan(t), "t is not a number");
  if (std::isinf(t)) {
    return t < 0.0 ? 0.0 : 1.0;
  }
  return boost::math::cdf(boost::math::students_t(degrees_of_freedom), t);
}

double student_t_quantile(double probability, double degrees_of_freedom) {
  WHET_CHECK(degrees_of_freedom > 0.0, "{} degrees of freedom", degrees_of_freedom);
  WHET_CHECK(probability > 0.0 && probability < 1.0, "a quantile at {}", probability);
  return boost::math::quantile(boost::math::students_t(degrees_of_freedom), probability);
}

}  // namespace whet
