# In the place of the image `haproxy`: Debian's package, as the same user.
FROM python:3.13-slim-trixie
RUN apt-get update -qq && apt-get install -qq -y --no-install-recommends haproxy > /dev/null
USER haproxy
