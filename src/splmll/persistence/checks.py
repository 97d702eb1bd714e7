"""What is checked of every class before a model that holds it is given to anyone.

Compiled code does not ask whether a number is a place that exists: it goes there. So everything it
will trust is checked after reading, class by class, in the one table ``CHECKS``: shapes that have
to agree, numbers that count into something, settings that open files or never end. **A class that
is not in the table cannot be saved or loaded**, and neither can an object that its checks refuse.

To make a class loadable, or to give one new state, add its line to the table. An attribute needs no
entry where only Python and NumPy will read it, which notice what does not fit; it needs one where
compiled code, a file name, a regular expression or ``getattr`` will. For a new array of an
estimator it is good manners in any case: ``shapes(covariance="c c")`` says that it is square with
as many rows as the arrays above it have labels. :mod:`splmll.persistence.checking` has the words
that the table is written in; what needs more is in :mod:`splmll.persistence.particular`. Then add a
model to ``tests/persistence/zoo.py``, where it is forged and used in every way.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from splmll.labels import CONTAINERS, TAG_KINDS
from splmll.persistence.checking import (
    LARGEST_INDEX,
    Check,
    Misfit,
    Sizes,
    below,
    hides_no_class_attribute,
    lists,
    nothing,
    of_every_object,
    one_of,
    shapes,
    some,
    whole,
)
from splmll.persistence.particular import (
    LAYER_SIZES,
    categories,
    decision_tree,
    embedding_layer,
    forest,
    forgotten_cache,
    layer,
    neighbours,
    padding,
    pipeline,
    polynomial,
    simple_pattern,
    splmll_model,
    stacked,
    support_vectors,
    vocabulary,
)

_LONGEST_GRAM = 64  # words or characters in a row that count as one
_METHODS = ("predict", "predict_proba", "decision_function", "drop")

_LINEAR = shapes(coef_="m p | p", intercept_="m | 1 | ")
_SCALE = shapes(
    mean_="p",
    var_="p",
    scale_="p",
    center_="p",
    min_="p",
    max_abs_="p",
    data_min_="p",
    data_max_="p",
    data_range_="p",
)
_CLASSES = (one_of(method=("sigmoid", "isotonic", "temperature")),)
_TEXTS = (
    # "filename" and "file" would open what the rows name.
    one_of(input=("content",), decode_error=("strict", "ignore", "replace")),
    whole(ngram_range=(1, _LONGEST_GRAM)),
    simple_pattern("token_pattern"),
)
_HASH = whole(n_features=(1, LARGEST_INDEX))
_COMPONENTS = shapes(components_="k p", mean_="p", explained_variance_="k", singular_values_="k")
_BAYES = shapes(
    feature_log_prob_="k p",
    class_log_prior_="k",
    feature_count_="k p",
    class_count_="k",
    theta_="k p",
    var_="k p",
    class_prior_="k",
    feature_all_="p",
)
_GRADIENT = shapes(
    coef_="m p | p",
    intercept_="m | 1",
    _average_coef="m p | p",
    _standard_coef="m p | p",
    _average_intercept="m | 1",
    _standard_intercept="m | 1",
    _expanded_class_weight="?",
)
_PLS = shapes(
    _x_mean="p",
    _x_std="p",
    x_weights_="p k",
    x_rotations_="p k",
    x_loadings_="p k",
    _y_mean="m",
    _y_std="m",
    y_weights_="m k",
    y_rotations_="m k",
    y_loadings_="m k",
    coef_="m p",
    intercept_="m",
)
_CLUSTERS = (
    shapes(cluster_centers_="k p", _counts="k"),
    some("k", "p"),
    whole(_n_threads=(1, 1024)),
)
_NEIGHBOURS = (
    shapes(_fit_X="n p"),
    some("n", "p"),
    neighbours,
    whole(n_neighbors=(1, LARGEST_INDEX), leaf_size=(1, LARGEST_INDEX)),
)
_TREE = (decision_tree,)
_FOREST = (forest,)
_LABELS = shapes(thresholds_="c", label_mean_="c", representativeness_="c")
_SELECTION = shapes(scores_="p", pvalues_="p", variances_="p")
_PROJECTION = shapes(components_="k p", inverse_components_="p k")
_LAYER = (layer, LAYER_SIZES)
_SETTINGS_ONLY = (
    *("AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d"),
    *("Dropout", "Dropout1d", "Dropout2d", "ELU", "Flatten", "GELU", "Hardtanh", "Identity"),
    *("LeakyReLU", "ModuleDict", "ModuleList", "PReLU", "ReLU", "ReLU6", "SELU", "Sequential"),
    *("Sigmoid", "SiLU", "Softmax", "Softplus", "Tanh", "Unflatten"),
)
_POOLS = ("AvgPool1d", "AvgPool2d", "MaxPool1d", "MaxPool2d", "ZeroPad2d")
_RULES = shapes(value="", values="c", weights="c", bias="", offset="")
_REDUCED = (_LABELS, shapes(recovery_="m c", intercept_="c", leverage_="c"))

#: Name in files -> what is checked. The letters: p features, c labels, k classes or components,
#: m outputs or landmarks, n rows.
CHECKS: dict[str, tuple[Check, ...]] = {
    # scikit-learn: features
    "sklearn.preprocessing.StandardScaler": (_SCALE,),
    "splmll.DenseStandardScaler": (),
    "sklearn.preprocessing.MinMaxScaler": (_SCALE,),
    "sklearn.preprocessing.MaxAbsScaler": (_SCALE,),
    "sklearn.preprocessing.RobustScaler": (_SCALE,),
    "sklearn.preprocessing.Normalizer": (),
    "sklearn.preprocessing.Binarizer": (),
    "sklearn.preprocessing.FunctionTransformer": (),
    "sklearn.preprocessing.PowerTransformer": (shapes(lambdas_="p"),),
    "sklearn.preprocessing.QuantileTransformer": (shapes(quantiles_="k p", references_="k"),),
    "sklearn.preprocessing.KBinsDiscretizer": (shapes(n_bins_="p"), lists(bin_edges_="p: ?")),
    "sklearn.preprocessing.PolynomialFeatures": (polynomial,),
    "sklearn.preprocessing.OneHotEncoder": (categories,),
    "sklearn.preprocessing.OrdinalEncoder": (categories,),
    "sklearn.preprocessing.TargetEncoder": (categories, lists(encodings_="?: ?")),
    "sklearn.preprocessing.LabelBinarizer": (),
    "sklearn.preprocessing.LabelEncoder": (),
    "sklearn.preprocessing.MultiLabelBinarizer": (forgotten_cache,),
    "sklearn.impute.SimpleImputer": (),
    "sklearn.impute.MissingIndicator": (below(features_="p"),),
    "sklearn.impute.KNNImputer": (
        shapes(_fit_X="n p", _mask_fit_X="n p", _valid_mask="p"),
        some("n"),
    ),
    "sklearn.decomposition.PCA": (_COMPONENTS,),
    "sklearn.decomposition.IncrementalPCA": (_COMPONENTS,),
    "sklearn.decomposition.TruncatedSVD": (_COMPONENTS,),
    "sklearn.decomposition.NMF": (shapes(components_="k p", _n_components="", n_components_=""),),
    "sklearn.decomposition.LatentDirichletAllocation": (
        shapes(components_="k p", exp_dirichlet_component_="k p"),
        some("k"),
    ),
    "sklearn.cluster.KMeans": _CLUSTERS,
    "sklearn.cluster.MiniBatchKMeans": _CLUSTERS,
    "sklearn.cross_decomposition.CCA": (_PLS,),
    "sklearn.cross_decomposition.PLSRegression": (_PLS,),
    "sklearn.kernel_approximation.AdditiveChi2Sampler": (whole(sample_steps=(1, 64)),),
    "sklearn.kernel_approximation.Nystroem": (
        shapes(components_="k p", normalization_="k k", component_indices_="k"),
    ),
    "sklearn.kernel_approximation.PolynomialCountSketch": (
        shapes(indexHash_="d p", bitHash_="d p"),
        whole(n_components=(1, LARGEST_INDEX)),
    ),
    "sklearn.kernel_approximation.RBFSampler": (shapes(random_weights_="p k", random_offset_="k"),),
    "sklearn.random_projection.GaussianRandomProjection": (_PROJECTION,),
    "sklearn.random_projection.SparseRandomProjection": (_PROJECTION,),
    "sklearn.feature_selection.SelectKBest": (_SELECTION,),
    "sklearn.feature_selection.SelectPercentile": (_SELECTION,),
    "sklearn.feature_selection.SelectFromModel": (),
    "sklearn.feature_selection.VarianceThreshold": (_SELECTION,),
    # scikit-learn: texts
    "sklearn.feature_extraction.text.CountVectorizer": (*_TEXTS, vocabulary),
    "sklearn.feature_extraction.text.TfidfVectorizer": (*_TEXTS, vocabulary),
    "sklearn.feature_extraction.text.HashingVectorizer": (*_TEXTS, _HASH),
    "sklearn.feature_extraction.text.TfidfTransformer": (shapes(idf_="p"),),
    "sklearn.feature_extraction.DictVectorizer": (vocabulary,),
    "sklearn.feature_extraction.FeatureHasher": (_HASH,),
    # scikit-learn: learners
    "sklearn.linear_model.ARDRegression": (_LINEAR,),
    "sklearn.linear_model.BayesianRidge": (_LINEAR,),
    "sklearn.linear_model.ElasticNet": (_LINEAR,),
    "sklearn.linear_model.Lasso": (_LINEAR,),
    "sklearn.linear_model.LinearRegression": (_LINEAR,),
    "sklearn.linear_model.LogisticRegression": (_LINEAR,),
    "sklearn.linear_model.LogisticRegressionCV": (_LINEAR,),
    "sklearn.linear_model.MultiTaskElasticNet": (_LINEAR,),
    "sklearn.linear_model.MultiTaskLasso": (_LINEAR,),
    "sklearn.linear_model.Perceptron": (_GRADIENT,),
    "sklearn.linear_model.Ridge": (_LINEAR,),
    "sklearn.linear_model.RidgeCV": (_LINEAR,),
    "sklearn.linear_model.RidgeClassifier": (_LINEAR,),
    "sklearn.linear_model.RidgeClassifierCV": (_LINEAR,),
    "sklearn.linear_model.SGDClassifier": (_GRADIENT,),
    "sklearn.linear_model.SGDRegressor": (_GRADIENT,),
    "sklearn.kernel_ridge.KernelRidge": (shapes(X_fit_="n p", dual_coef_="n | n m"),),
    "sklearn.isotonic.IsotonicRegression": (
        shapes(X_thresholds_="k", y_thresholds_="k"),
        some("k"),
    ),
    "sklearn.svm.SVC": (support_vectors,),
    "sklearn.svm.NuSVC": (support_vectors,),
    "sklearn.svm.SVR": (support_vectors,),
    "sklearn.svm.NuSVR": (support_vectors,),
    "sklearn.svm.LinearSVC": (_LINEAR,),
    "sklearn.svm.LinearSVR": (_LINEAR,),
    "sklearn.tree.DecisionTreeClassifier": _TREE,
    "sklearn.tree.DecisionTreeRegressor": _TREE,
    "sklearn.tree.ExtraTreeClassifier": _TREE,
    "sklearn.tree.ExtraTreeRegressor": _TREE,
    "sklearn.ensemble.RandomForestClassifier": _FOREST,
    "sklearn.ensemble.RandomForestRegressor": _FOREST,
    "sklearn.ensemble.ExtraTreesClassifier": _FOREST,
    "sklearn.ensemble.ExtraTreesRegressor": _FOREST,
    "sklearn.ensemble.BaggingClassifier": (),
    "sklearn.ensemble.BaggingRegressor": (),
    "sklearn.ensemble.StackingClassifier": (one_of(stack_method_=_METHODS),),
    "sklearn.ensemble.VotingClassifier": (),
    "sklearn.ensemble.VotingRegressor": (),
    "sklearn.calibration.CalibratedClassifierCV": _CLASSES,
    "sklearn.calibration._CalibratedClassifier": _CLASSES,
    "sklearn.calibration._SigmoidCalibration": (shapes(a_="", b_=""),),
    "sklearn.naive_bayes.BernoulliNB": (_BAYES,),
    "sklearn.naive_bayes.CategoricalNB": (
        lists(feature_log_prob_="p: k ?", category_count_="p: k ?"),
        shapes(class_log_prior_="k", n_categories_="p"),
    ),
    "sklearn.naive_bayes.ComplementNB": (_BAYES,),
    "sklearn.naive_bayes.GaussianNB": (_BAYES,),
    "sklearn.naive_bayes.MultinomialNB": (_BAYES,),
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis": (
        _LINEAR,
        shapes(xbar_="p", means_="k p", scalings_="p ?"),
    ),
    "sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis": (
        shapes(means_="k p", priors_="k"),
        lists(scalings_="k: ?", rotations_="k: p ?"),
    ),
    "sklearn.dummy.DummyClassifier": (),
    "sklearn.dummy.DummyRegressor": (shapes(constant_="1 ?"),),
    "sklearn.neighbors.KNeighborsClassifier": _NEIGHBOURS,
    "sklearn.neighbors.KNeighborsRegressor": _NEIGHBOURS,
    "sklearn.neighbors.RadiusNeighborsClassifier": _NEIGHBOURS,
    "sklearn.neighbors.RadiusNeighborsRegressor": _NEIGHBOURS,
    "sklearn.neighbors.NearestNeighbors": _NEIGHBOURS,
    "sklearn.neighbors.NearestCentroid": (
        shapes(centroids_="k p", class_prior_="k", within_class_std_dev_="p"),
        some("k"),
    ),
    "sklearn.multiclass.OneVsOneClassifier": (),
    "sklearn.multiclass.OneVsRestClassifier": (),
    "sklearn.multiclass._ConstantPredictor": (),
    "sklearn.multioutput.ClassifierChain": (
        one_of(chain_method_=_METHODS),
        lists(estimators_="m"),
        below(order_="m"),
    ),
    "sklearn.multioutput.RegressorChain": (),
    "sklearn.multioutput.MultiOutputClassifier": (),
    "sklearn.multioutput.MultiOutputRegressor": (),
    # scikit-learn: around them
    "sklearn.compose.ColumnTransformer": (),
    "sklearn.compose.TransformedTargetRegressor": (),
    "sklearn.compose.make_column_selector": (simple_pattern("pattern"),),
    "sklearn.pipeline.FeatureUnion": (),
    "sklearn.pipeline.Pipeline": (
        nothing(memory="a model must not read from a folder named in its file"),
        pipeline,
    ),
    "sklearn.model_selection.GroupKFold": (),
    "sklearn.model_selection.KFold": (),
    "sklearn.model_selection.ShuffleSplit": (),
    "sklearn.model_selection.StratifiedKFold": (),
    # torch, which checks shapes whenever it is used
    **{f"torch.nn.{name}": _LAYER for name in _SETTINGS_ONLY},
    **{f"torch.nn.{name}": (*_LAYER, padding) for name in _POOLS},
    "torch.nn.Linear": (*_LAYER, shapes(weight="o i", bias="o")),
    "torch.nn.Conv1d": (*_LAYER, padding, shapes(weight="o i ?", bias="o"), some("o", "i")),
    "torch.nn.Conv2d": (*_LAYER, padding, shapes(weight="o i ? ?", bias="o"), some("o", "i")),
    "torch.nn.BatchNorm1d": (
        *_LAYER,
        shapes(running_mean="d", running_var="d", weight="d", bias="d"),
    ),
    "torch.nn.BatchNorm2d": (
        *_LAYER,
        shapes(running_mean="d", running_var="d", weight="d", bias="d"),
    ),
    "torch.nn.GroupNorm": (*_LAYER, shapes(weight="d", bias="d")),
    "torch.nn.LayerNorm": _LAYER,
    "torch.nn.Embedding": (*_LAYER, shapes(weight="n d"), embedding_layer),
    # The library's own: SPL-MLL
    "splmll.SPLMLL": (_LABELS, splmll_model),
    "splmll.PublishedSPLMLL": (
        _LABELS,
        shapes(landmark_weights_="m c", intercept_="c", predictability_="?"),
        below(landmark_columns_="c"),
    ),
    "splmll.landmarks.Landmarks": (
        shapes(predictability="c", labels="m", outputs="m", explained="m"),
        below(labels="c"),
    ),
    "splmll.landmarks.Map": (shapes(recovery="m c", intercept="c"),),
    "splmll.landmarks.Setting": (),
    "splmll.landmarks.Completion": (
        shapes(mean="c", landmarks="m", moments="m c"),
        below(landmarks="c"),
    ),
    "splmll.landmarks.AnswerModel": (shapes(counts="n"),),
    "splmll.landmarks.CalibrationCurve": (shapes(scores="k", log_odds="k", shift="c"),),
    "splmll.landmarks.LabelCorrelations": (
        shapes(labels="m", matrix="m m"),
        whole(n_labels=(1, LARGEST_INDEX)),
    ),
    "splmll.landmarks.Stream": (),
    "splmll.statistics.Statistics": (shapes(xx="q q", xy="q c", yy="c c"),),
    "splmll.labels.LabelFormat": (
        one_of(
            kind=("vector", "array", "sparse", "frame", "polars", *TAG_KINDS),
            container=tuple(CONTAINERS),
        ),
        whole(n_labels=(1, LARGEST_INDEX)),
    ),
    "splmll.thresholds.GlobalThreshold": (_RULES,),
    "splmll.thresholds.LinearThreshold": (_RULES,),
    "splmll.thresholds.NeverEmpty": (),
    "splmll.thresholds.PerLabelThreshold": (_RULES,),
    "splmll.thresholds.TopRanked": (whole(r=(0, LARGEST_INDEX)),),
    "splmll.embeddings.AveragedRegressors": (),
    "splmll.embeddings.Blend": (),
    "splmll.embeddings.Kernel": (),
    "splmll.embeddings.KernelSVM": (
        shapes(weights_="n m", intercepts_="m", rate_="m", support_="n ?"),
    ),
    "splmll.embeddings.LabelModels": (),
    "splmll.embeddings.Linear": (shapes(map_="q m"),),
    "splmll.embeddings.LinearModels": (shapes(weights="q m", intercepts="m"),),
    "splmll.embeddings.Network": (),
    "splmll.embeddings.OneVsRest": (shapes(rate_="m"),),
    "splmll.embeddings.Stochastic": (shapes(rate_="m"),),
    "splmll.embeddings.TorchModule": (),
    "splmll.embeddings.Trees": (),
    # The library's own: the compared methods
    "splmll.methods.BinaryRelevance": (_LABELS, shapes(coef_="c p", intercept_="c")),
    "splmll.methods.C2AE": (_LABELS,),
    "splmll.methods.CPLST": (_LABELS,),
    "splmll.methods.CalibratedLabelRanking": (_LABELS,),
    "splmll.methods.EnsembleOfClassifierChains": (_LABELS,),
    "splmll.methods.EnsembleOfPrunedSets": (_LABELS,),
    "splmll.methods.FaIE": (_LABELS,),
    "splmll.methods.HNOML": (_LABELS, shapes(coef_="c p", intercept_="c")),
    "splmll.methods.LEML": (
        _LABELS,
        shapes(feature_factors_="p m", intercept_factors_="m", label_factors_="c m"),
    ),
    "splmll.methods.LabelPowerset": (_LABELS,),
    "splmll.methods.MLCSSP": _REDUCED,
    "splmll.methods.MLFE": (_LABELS,),
    "splmll.methods.MLML": (_LABELS,),
    "splmll.methods.MLkNN": (
        _LABELS,
        shapes(prior_="c", likelihood_present_="c k", likelihood_absent_="c k", posterior_="c k"),
    ),
    "splmll.methods.MOPLMS": _REDUCED,
    "splmll.methods.NetworkRegressor": (shapes(target_mean_="m", target_scale_="m"),),
    "splmll.methods.PBR": _REDUCED,
    "splmll.methods.PLST": (_LABELS,),
    "splmll.methods.RAkEL": (_LABELS,),
    "splmll.methods.SLEEC": (_LABELS,),
    "splmll.methods.ThresholdedRandomForest": (_LABELS,),
    "splmll.methods.BruteForceSearch": (
        shapes(rows="n p", half_squares="n", transposed="? n", centre="p"),
    ),
    "splmll.methods.CentredMatrix": (shapes(stored="n p"), lists(centring="2: ?")),
    "splmll.methods.Cluster": (shapes(weights="q m", embedded="n m", labels="n c"),),
    "splmll.methods.ConditionalLabelSpace": (shapes(components_="m p", label_mean_="p"),),
    "splmll.methods.ConstantGuard": (),
    "splmll.methods.DoublePrecision": _LAYER,
    "splmll.methods.FeatureScale": (shapes(shift="p", scale="p"),),
    "splmll.methods.ImplicitLabelSpace": (shapes(components_="m p", label_mean_="p"),),
    "splmll.methods.KernelColumns": (shapes(rows="n p"),),
    "splmll.methods.LabelSetEnsemble": (),
    "splmll.methods.LabelSetLearner": (shapes(sets="k c"),),
    "splmll.methods.Learner": (shapes(centres="p k"),),
    "splmll.methods.LinearChain": (
        shapes(feature_weights="c p", label_weights="c c", intercept="c"),
    ),
    "splmll.methods.LinearMap": (shapes(coef_="m p", intercept_="m"),),
    "splmll.methods.MostLikelySet": (shapes(offset=""),),
    "splmll.methods.NeighbourSearch": (whole(n_neighbors=(1, LARGEST_INDEX)),),
    "splmll.methods.Networks": _LAYER,
    "splmll.methods.OneVsRestLogistic": (shapes(coef_="m p", intercept_="m"),),
    "splmll.methods.PrincipalLabelSpace": (shapes(components_="m p", label_mean_="p"),),
    "splmll.methods.SignRegression": (shapes(_coefficients="n c", _bias="c"),),
    "splmll.methods.StackedLogistic": (shapes(coef="k p", intercept="? ?", sets="k c"), stacked),
    # The library's own: around them
    "splmll.model_selection.IsotonicCurve": (shapes(margin=""),),
    "splmll.model_selection.MultilabelCalibrator": (_LABELS, one_of(score_method_=_METHODS)),
    "splmll.model_selection.MultilabelStratifiedKFold": (),
    "splmll.model_selection.MultilabelStratifiedShuffleSplit": (),
    "splmll.model_selection.SigmoidCurve": (shapes(slope="", intercept=""),),
    "splmll.model_selection.ThresholdTuner": (
        _LABELS,
        shapes(constant_scores_="c"),
        one_of(method_=_METHODS),
    ),
    "splmll.neural.Dropout": _LAYER,
    "splmll.neural.Logistic": _LAYER,
    "splmll.neural.Standardise": (*_LAYER, shapes(mean="p", scale="p")),
    "splmll.published.DoublePrecision": _LAYER,
    "splmll.tagging.HashedWords": (
        whole(n_features=(1, LARGEST_INDEX), ngram_range=(1, _LONGEST_GRAM)),
        simple_pattern("token_pattern"),
        shapes(kept_="k", idf_="k"),
        lambda words, sizes: below(kept_=words.n_features)(words, sizes),
    ),
    "splmll.tagging.Words": (),
}


def misfit(value: Any, names: Iterable[str], *, trusted: bool = False) -> str | None:
    """Return what is wrong with an object, None where its attributes fit together.

    Parameters
    ----------
    value : object
        As it was read, or as it is going to be written.
    names : iterable of str
        The names in files of its class, or of the bases of a class that the caller trusts.
    trusted : bool, default=False
        Whether the class is the caller's own, which may set what it likes.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from splmll.persistence.checks import misfit
    >>> vectorizer = TfidfVectorizer(input="filename")
    >>> misfit(vectorizer, ["sklearn.feature_extraction.text.TfidfVectorizer"])
    "input of TfidfVectorizer is 'filename', not one of ('content',)"
    """
    sizes: Sizes = {}
    try:
        if not trusted:
            hides_no_class_attribute(value, sizes)
        of_every_object(value, sizes)
        for name in names:
            for check in CHECKS[name]:
                check(value, sizes)
    except Misfit as error:
        return str(error)
    except (AttributeError, TypeError, ValueError, IndexError, KeyError, OverflowError) as error:
        return f"the parts of a {type(value).__name__} do not fit together ({error})"
    return None
