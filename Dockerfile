# The image of Callgauge: `docker build -f Dockerfile -t callgauge CHECKOUT`, where CHECKOUT is Callgauge's source.
# Every package is the one of requirements.lock, by its hash. Name the base by its digest to pin it, too:
# --build-arg PYTHON_IMAGE=python:3.13-slim@sha256:…
ARG PYTHON_IMAGE=python:3.13-slim

FROM ${PYTHON_IMAGE} AS build
# What reads s3://, gs://, az:// and https:// (s3fs, gcsfs, adlfs, aiohttp), and what OpenID Connect takes
# (authlib, httpx2). They are not in the lock: write NAME==VERSION to pin them.
ARG EXTRA_PACKAGES=""
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
COPY requirements.lock /build/requirements.lock
RUN python -m venv /opt/callgauge \
 && /opt/callgauge/bin/pip install --require-hashes --only-binary :all: -r /build/requirements.lock \
 && if [ -n "${EXTRA_PACKAGES}" ]; then \
      /opt/callgauge/bin/pip install --only-binary :all: ${EXTRA_PACKAGES}; \
    fi \
 && /opt/callgauge/bin/pip uninstall --yes pip
COPY callgauge /opt/callgauge/src/callgauge
COPY ingest /opt/callgauge/src/ingest
COPY lenient /opt/callgauge/src/lenient
# A path file, not a variable: the processes that read for the SQL page get no variables.
RUN echo /opt/callgauge/src > "$(/opt/callgauge/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/callgauge.pth" \
 && /opt/callgauge/bin/python -m compileall -q /opt/callgauge/src

FROM ${PYTHON_IMAGE}
RUN groupadd --system --gid 10001 callgauge \
 && useradd --system --uid 10001 --gid 10001 --home-dir /callgauge --no-create-home --shell /usr/sbin/nologin callgauge \
 && install -d -o 10001 -g 10001 -m 0750 /callgauge /callgauge/store
COPY --from=build /opt/callgauge /opt/callgauge
# The root is read-only where it runs: nothing is compiled there, and what is temporary goes to /tmp.
ENV PATH=/opt/callgauge/bin:$PATH HOME=/tmp PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER 10001:10001
WORKDIR /callgauge
EXPOSE 8501
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8501/healthz', timeout=5)"]
ENTRYPOINT ["python", "-P", "-m", "callgauge"]
CMD ["serve", "--config", "/callgauge/callgauge.toml"]
