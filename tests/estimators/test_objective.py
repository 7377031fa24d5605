import numpy as np

from maxmargin import Hinge, Intercept, as_design
from maxmargin.estimators.objective import Objective

CLASSES = np.array(["a", "b", "c"])


def objective(class_weight=None, classes=CLASSES):
    return Objective(Hinge(), 2.0, Intercept.FREE, 1.0, class_weight, classes)


def test_c_class_weight_and_sample_weight_multiply_into_cost():
    y = np.array(["a", "b", "b", "c"])
    weight = np.array([1.0, 2.0, 0.0, 1.0])
    problems = objective({"b": 3.0}).problems(as_design(np.eye(4)), y, weight)
    assert [problem.cost.tolist() for problem in problems] == 3 * [[2.0, 12.0, 0.0, 2.0]]
    assert [problem.target.tolist() for problem in problems][1] == [-1.0, 1.0, 1.0, -1.0]
    assert len({id(problem.design) for problem in problems}) == 1


def test_balanced_gives_every_class_the_same_total():
    codes = np.array([0, 0, 0, 1, 2, 2])
    weight = objective("balanced").weights(codes, None)
    assert np.allclose([weight[codes == k].sum() for k in range(3)], 2.0)
    assert np.isclose(weight.sum(), 6.0)


def test_two_classes_are_one_problem():
    problems = objective(classes=CLASSES[:2]).problems(as_design(np.eye(2)), np.array(["b", "a"]), None)
    assert [problem.target.tolist() for problem in problems] == [[1.0, -1.0]]
