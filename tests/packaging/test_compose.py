"""docker-compose.yml, its configuration files and its page; `make deployment` runs all of it."""

import re

import pytest

from tests.deploy.operator import __main__ as operator
from tests.deploy.operator import page as pages
from tests.packaging.wheels import ROOT

COMPOSE = (ROOT / "docker-compose.yml").read_text()
PAGE = (ROOT / "docs" / "how-to" / "deployment.md").read_text()
SERVICES = dict(
    re.findall(r"^  (\w+):\n((?:    .*\n|\n|  #.*\n)+)", COMPOSE[COMPOSE.index("\nservices:\n") :], re.MULTILINE)
)


def test_containers_have_a_root_that_is_read_only_and_no_capabilities() -> None:
    assert {*SERVICES} >= {"database", "migrate", "api", "worker", "proxy", "prometheus", "grafana", "collector"}
    without = [name for name, text in SERVICES.items() if not re.search(r"<<: \*(container|relevance)\n", text)]
    assert without == ["database"]
    assert "  read_only: true\n  cap_drop: [ALL]\n" in COMPOSE


def test_the_proxy_alone_is_published_and_all_else_on_loopback() -> None:
    published = {name: re.findall(r"^    ports: (.+)$", text, re.MULTILINE) for name, text in SERVICES.items()}
    exposed = [name for name, ports in published.items() if ports and not ports[0].startswith('["127.0.0.1:')]
    assert exposed == ["proxy"]
    always = [name for name, ports in published.items() if ports and "profiles:" not in SERVICES[name]]
    assert always == ["proxy"]


def test_the_page_lists_the_variables_with_their_defaults() -> None:
    variables = dict(re.findall(r"\$\{(\w+):-([^}]*)\}", COMPOSE))
    listed: dict[str, str] = {}
    for names, defaults in re.findall(r"^\| ((?:`[A-Z_]+`,? ?)+) \| ((?:`\S+`,? ?)+) \|", PAGE, re.MULTILINE):
        listed |= zip(re.findall(r"`(\w+)`", names), re.findall(r"`(\S+)`", defaults), strict=True)
    assert listed == {name: default for name, default in variables.items() if not name.startswith("OTEL_")}
    assert "`OTEL_EXPORTER_OTLP_ENDPOINT`" in PAGE


def test_the_run_follows_each_heading_of_the_page_that_has_commands() -> None:
    page, image = pages.section(operator.PAGE), pages.section(operator.IMAGE)
    assert len(page.left) > 5
    assert image.left == {operator.IMAGE}
    source = "".join(path.read_text() for path in (ROOT / "tests" / "deploy" / "operator").glob("*.py"))
    assert [heading for heading in page.left if f'page, "{heading}")' not in source] == []


def test_ports_and_files_of_the_observers_are_those_of_the_services() -> None:
    provisioning = ROOT / "deploy" / "grafana" / "provisioning"
    sources = (provisioning / "datasources" / "datasources.yml").read_text()
    found = re.findall(r'url: "http://(\w+):(\d+)"', sources)
    assert len(found) == 2
    for service, port in found:
        assert f":{port}" in SERVICES[service]
    (folder,) = re.findall(r"path: ([\w/]+)", (provisioning / "dashboards" / "dashboards.yml").read_text())
    assert f"./deploy/grafana/dashboard.json:{folder}/" in SERVICES["grafana"]
    proxy = (ROOT / "deploy" / "proxy" / "haproxy.cfg").read_text()
    scraped = (ROOT / "deploy" / "prometheus" / "prometheus.yml").read_text()
    for bound in re.findall(r"bind :(\d+)", proxy):
        assert bound in SERVICES["proxy"]
    assert 'targets: ["proxy:8404"]' in scraped
    assert "names: [api], type: A, port: 8000" in scraped


@pytest.mark.parametrize("name", ["api_key", "database_password", "grafana_password", "tls.pem", "metrics_key"])
def test_each_secret_is_made_by_a_command_of_the_page(name: str) -> None:
    assert f"./secrets/{name} }}" in COMPOSE
    made = re.search(r"^secrets: .*?(?=^\w)", (ROOT / "Makefile").read_text(), re.MULTILINE | re.DOTALL)
    assert made is not None
    assert name in made[0] or f"> secrets/{name}" in PAGE
