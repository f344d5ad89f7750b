"""The functions that a query may call, by name. What is on neither list is refused as unknown to Treaty."""

from collections.abc import Mapping

ALLOWED_BY_GROUP: Mapping[str, str] = {
    "predicates": "equal_null ilike in isnan isnotnull isnull like not or and regexp regexp_like rlike",
    "numbers": (
        "abs acos acosh asin asinh atan atan2 atanh bin bround cbrt ceil ceiling conv cos cosh cot csc "
        "degrees div e exp expm1 factorial floor greatest hex hypot least ln log log10 log1p log2 mod "
        "negative pi pmod positive pow power radians rint round sec sign signum sin sinh sqrt tan tanh "
        "try_add try_divide try_mod try_multiply try_subtract unhex width_bucket"
    ),
    "bits": "bit_count bit_get getbit shiftleft shiftright shiftrightunsigned",
    "times": (
        "add_months convert_timezone date_add date_diff date_format date_from_unix_date date_part date_sub "
        "date_trunc dateadd datediff datepart day dayname dayofmonth dayofweek dayofyear extract "
        "from_unixtime from_utc_timestamp hour last_day make_date make_dt_interval make_interval "
        "make_timestamp make_timestamp_ltz make_timestamp_ntz make_ym_interval minute month monthname "
        "months_between next_day quarter second session_window timestamp_micros timestamp_millis "
        "timestamp_seconds timestampadd timestampdiff to_date to_timestamp to_timestamp_ltz to_timestamp_ntz "
        "to_utc_timestamp trunc try_make_interval try_make_timestamp try_make_timestamp_ltz "
        "try_make_timestamp_ntz try_to_date try_to_timestamp unix_date unix_micros unix_millis unix_seconds "
        "weekday weekofyear window window_time year"
    ),
    "times of an argument": "to_unix_timestamp unix_timestamp",
    "lambdas": (
        "aggregate array_sort exists filter forall map_filter map_zip_with reduce transform transform_keys "
        "transform_values zip_with"
    ),
    "aggregates": (
        "any any_value approx_count_distinct approx_percentile array_agg avg bit_and bit_or bit_xor bool_and "
        "bool_or collect_list collect_set corr count count_if covar_pop covar_samp every first first_value "
        "grouping grouping_id histogram_numeric kurtosis last last_value listagg max max_by mean median min "
        "min_by mode percentile percentile_approx regr_avgx regr_avgy regr_count regr_intercept regr_r2 "
        "regr_slope regr_sxx regr_sxy regr_syy skewness some std stddev stddev_pop stddev_samp string_agg sum "
        "try_avg try_sum var_pop var_samp variance"
    ),
    "arrays": (
        "array array_append array_compact array_contains array_distinct array_except array_insert "
        "array_intersect array_join array_max array_min array_position array_prepend array_remove "
        "array_repeat array_size array_union arrays_overlap arrays_zip flatten get sequence slice sort_array"
    ),
    "texts": (
        "ascii base64 bit_length btrim char char_length character_length chr collate collation concat_ws "
        "contains decode elt encode endswith find_in_set format_number format_string initcap instr "
        "is_valid_utf8 lcase left len length levenshtein locate lower lpad ltrim luhn_check make_valid_utf8 "
        "mask octet_length overlay position printf quote regexp_count regexp_extract regexp_extract_all "
        "regexp_instr regexp_replace regexp_substr repeat replace right rpad rtrim sentences soundex space "
        "split split_part startswith substr substring substring_index to_binary to_char to_number to_varchar "
        "translate trim try_to_binary try_to_number try_validate_utf8 ucase unbase64 upper validate_utf8"
    ),
    "conditions": "between coalesce if ifnull nanvl nullif nullifzero nvl nvl2 when zeroifnull",
    "conversions": "bigint binary boolean cast date decimal double float int smallint string timestamp tinyint typeof",
    "collections": "cardinality concat element_at reverse size try_element_at",
    "generators": "explode explode_outer inline inline_outer posexplode posexplode_outer stack",
    "hashes": "crc32 hash md5 sha sha1 sha2 xxhash64",
    "json and csv": (
        "from_csv from_json get_json_object json_array_length json_object_keys json_tuple schema_of_csv "
        "schema_of_json to_csv to_json"
    ),
    "variants": (
        "is_variant_null parse_json schema_of_variant to_variant_object try_parse_json try_variant_get "
        "variant_explode variant_explode_outer variant_get"
    ),
    "maps and structs": (
        "map map_concat map_contains_key map_entries map_from_arrays map_from_entries map_keys map_values "
        "named_struct str_to_map struct"
    ),
    "urls": "parse_url try_parse_url try_url_decode url_decode url_encode",
}
"""Names with blanks between, by what they are about. Their results depend on their arguments alone."""

REFUSED_BY_REASON: Mapping[str, str] = {
    "the machine and its files": (
        "input_file_block_length input_file_block_start input_file_name java_method reflect try_reflect "
        "spark_partition_id monotonically_increasing_id version python_worker_logs from_protobuf to_protobuf "
        "from_avro to_avro schema_of_avro collations sql_keywords from_xml to_xml schema_of_xml xpath "
        "xpath_boolean xpath_double xpath_float xpath_int xpath_long xpath_number xpath_short xpath_string"
    ),
    "who runs it": "current_user session_user user current_catalog current_database current_schema current_timezone",
    "the time at which it runs": "now curdate current_date current_time current_timestamp localtime localtimestamp",
    "chance": "rand randn random randstr uniform uuid shuffle aes_encrypt",
    "failure on purpose": "raise_error assert_true",
}
"""Functions of Spark that are refused, by what their result depends on."""

ALLOWED_FUNCTIONS = frozenset(name for names in ALLOWED_BY_GROUP.values() for name in names.split())
"""Names of the functions that a query may call, in small letters."""
AGGREGATE_FUNCTIONS = frozenset(ALLOWED_BY_GROUP["aggregates"].split())
"""Those of them that make one value of many rows."""
GENERATORS = frozenset(
    (*ALLOWED_BY_GROUP["generators"].split(), "variant_explode", "variant_explode_outer", "json_tuple")
)
"""Those of them that make many rows of one; they may be in FROM."""
TIMES_OF_AN_ARGUMENT = frozenset(ALLOWED_BY_GROUP["times of an argument"].split())
"""Those of them that return the time of the machine when they are called without an argument."""
REFUSED_FUNCTIONS: Mapping[str, str] = {
    name: reason for reason, names in REFUSED_BY_REASON.items() for name in names.split()
}
"""By name, what the result of a refused function depends on."""
SIZED_FUNCTIONS: Mapping[str, int] = {"repeat": 1, "space": 0, "lpad": 1, "rpad": 1, "array_repeat": 1}
"""By name, the place of the argument that says how many characters or elements the result has."""
LAMBDA_FUNCTIONS = frozenset(ALLOWED_BY_GROUP["lambdas"].split())
"""Functions that carry out an expression for each element."""
FORMATS = frozenset(("format_string", "printf"))
"""Functions whose first argument has widths of values."""
FILLED_FUNCTIONS = FORMATS | {"lpad", "rpad"}
"""Functions that fill a text up to a number of characters, however many it has."""
