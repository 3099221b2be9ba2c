# One image per service: docker build --build-arg SERVICE=memory .
# Building happens in the first stage; the second holds Python, one environment and nothing that builds.
ARG PYTHON_IMAGE=python:3.13-slim

FROM ${PYTHON_IMAGE} AS build
WORKDIR /source
# The index that pip uses is the image's or the builder's own setting; hashes say what may come from it.
COPY requirements/build.txt requirements/
RUN --mount=type=cache,target=/root/.cache/pip \
    python -m venv /opt/build \
    && /opt/build/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/build.txt
# Contracts and runtime are the same in every image, so they come before SERVICE and are built once.
COPY protos protos
COPY runtime runtime
RUN /opt/build/bin/pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation \
    --wheel-dir /wheels ./protos ./runtime

ARG SERVICE
COPY requirements/${SERVICE}.txt requirements/cli.txt requirements/
RUN --mount=type=cache,target=/root/.cache/pip \
    test -n "${SERVICE}" || { echo "say which service: --build-arg SERVICE=memory" >&2; exit 1; }; \
    locks="-r requirements/${SERVICE}.txt"; \
    if [ "${SERVICE}" = agent ]; then locks="${locks} -r requirements/cli.txt"; fi; \
    python -m venv --without-pip /opt/onechat \
    && /opt/build/bin/pip --python /opt/onechat/bin/python install --quiet --disable-pip-version-check \
       --require-hashes ${locks}
COPY cli cli
COPY demo demo
COPY services/${SERVICE} services/${SERVICE}
# The agent's image also holds the demo model, which it starts, and the onechat command.
RUN members="./services/${SERVICE}"; names="onechat-${SERVICE}"; \
    if [ "${SERVICE}" = agent ]; then members="${members} ./cli ./demo"; names="${names} onechat-cli onechat-demo"; fi; \
    /opt/build/bin/pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation \
        --wheel-dir /wheels ${members} \
    && /opt/build/bin/pip --python /opt/onechat/bin/python install --quiet --disable-pip-version-check \
        --no-deps --no-index --find-links /wheels onechat-protos onechat-runtime ${names}

FROM ${PYTHON_IMAGE}
ARG SERVICE
# What the agent's shell tool is expected to find, and what the library that speaks to WhatsApp loads.
RUN case "${SERVICE}" in \
        agent) packages="bash ca-certificates curl git" ;; \
        whatsapp) packages="ca-certificates libmagic1" ;; \
        *) exit 0 ;; \
    esac; \
    apt-get update -qq \
    && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends ${packages} >/dev/null \
    && rm -rf /var/lib/apt/lists/*
# The service's own user. Volumes take over the owner of the folders that they are mounted on, so UID is that of
# whoever owns the bind mounts; see compose.yaml.
ARG UID=10001
ARG GID=10001
RUN getent passwd "${UID}" >/dev/null || echo "onechat:x:${UID}:${GID}:onechat:/home/onechat:/bin/bash" >>/etc/passwd; \
    getent group "${GID}" >/dev/null || echo "onechat:x:${GID}:" >>/etc/group; \
    for folder in /home/onechat /data /tokens/agent /tokens/telegram /tokens/whatsapp /tokens/scheduler \
        /tokens/operator /tokens/callers; do install -d -m 0700 -o "${UID}" -g "${GID}" "${folder}"; done; \
    chmod 0755 /tokens
COPY deploy/healthcheck.py /opt/healthcheck.py
COPY --from=build /opt/onechat /opt/onechat
ENV PATH=/opt/onechat/bin:/usr/local/bin:/usr/bin:/bin \
    HOME=/home/onechat \
    PYTHONUNBUFFERED=1 \
    ONECHAT_DATA=/data \
    ONECHAT_SERVICE=${SERVICE}
USER ${UID}:${GID}
WORKDIR /home/onechat
# exec: the service itself gets the signal to stop.
CMD ["sh", "-c", "exec python -m onechat_${ONECHAT_SERVICE}"]
