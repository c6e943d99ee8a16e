# The server alone: built in one image, run from another without a compiler, a cache or root.
FROM python:3.11-slim AS build
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY TokenOptEnv TokenOptEnv
RUN python -m venv /opt/camre && /opt/camre/bin/pip install --no-cache-dir -c constraints.txt '.[server]'

FROM python:3.11-slim
RUN useradd --uid 1000 --create-home camre
COPY --from=build /opt/camre /opt/camre
WORKDIR /app
COPY server server
ENV PATH=/opt/camre/bin:$PATH PYTHONUNBUFFERED=1 CAMRE_HOST=0.0.0.0 CAMRE_PORT=8000
USER camre
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ['CAMRE_PORT'] + '/health', timeout=4)"]
CMD ["python", "-m", "server.app"]
