# In the place of the image `prom/prometheus`: Debian's package, with that image's folder and entry point.
FROM python:3.13-slim-trixie
RUN apt-get update -qq && apt-get install -qq -y --no-install-recommends prometheus > /dev/null \
 && install -d -o prometheus -g prometheus /prometheus
USER prometheus
ENTRYPOINT ["prometheus"]
