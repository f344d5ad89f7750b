"""`treaty spark`: what a Spark session of one's own needs."""

from importlib import import_module

import click


@click.group("spark")
def command() -> None:
    """Packages and settings for Spark sessions."""


@command.command("packages")
@click.option("--delta/--no-delta", default=True, show_default=True, help="Delta tables.")
@click.option("--iceberg/--no-iceberg", default=False, show_default=True, help="Iceberg tables.")
@click.option("--kafka/--no-kafka", default=False, show_default=True, help="Kafka as source and sink.")
@click.option("--conf", "as_conf", is_flag=True, help="As lines for spark-defaults.conf.")
def packages(delta: bool, iceberg: bool, kafka: bool, as_conf: bool) -> None:  # noqa: FBT001 - click passes them so
    """Print the exact packages and settings that Treaty is proven with, as options of spark-submit."""
    # Loaded late: `treaty spark --help` must not need pyspark.
    module = import_module("treaty.spark.packages")
    wanted = module.packages(delta=delta, iceberg=iceberg, kafka=kafka)
    settings = {
        "spark.jars.packages": ",".join(wanted.coordinates),
        "spark.jars.excludes": ",".join(wanted.excludes),
        **wanted.settings,
    }
    for name, value in settings.items():
        click.echo(f"{name} {value}" if as_conf else f'--conf "{name}={value}" \\')
    for one in wanted.jars:
        click.echo(f"# and the jar of {one}, fetched by these coordinates, in spark.jars", err=True)
