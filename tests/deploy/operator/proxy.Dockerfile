# In the place of the image `haproxy`: Debian's package of the same version, of its testing suite, as the same user.
FROM python:3.13-slim-trixie
RUN sed -n "s/^\(deb .*\) trixie main$/\1 forky main/p" /etc/apt/sources.list > /etc/apt/sources.list.d/testing.list \
    && apt-get update -qq && apt-get install -qq -y --no-install-recommends haproxy > /dev/null
USER haproxy
