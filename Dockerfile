# One image for the server, the gateway and the runners.
FROM debian:bookworm-slim AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 python3-venv \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY pyproject.toml setup.py MANIFEST.in README.md LICENSE ./
COPY src src
COPY activities activities
COPY worker worker
COPY workflows workflows
# python-xlib 0.33 has to be written after python3-Xlib 0.15: both have the same folder.
RUN python3 -m venv /opt/handoff \
 && /opt/handoff/bin/pip install --no-cache-dir . \
 && /opt/handoff/bin/pip install --no-cache-dir --force-reinstall --no-deps 'python-xlib>=0.33,<0.34' \
 && /opt/handoff/bin/python -c 'import Xlib, sys; sys.exit(Xlib.__version__ < (0, 33))'
# noVNC's files alone: the package wants a web server and a Node.js beside them.
RUN apt-get update \
 && cd /tmp && apt-get download novnc && dpkg -x novnc_*.deb /opt/novnc \
 && rm -rf /var/lib/apt/lists/* /tmp/novnc_*.deb

FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      chromium fonts-dejavu-core libatomic1 openbox python3 python3-tk tigervnc-standalone-server \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 10001 handoff \
 && install --directory --owner handoff --group handoff --mode 0700 /var/lib/handoff
COPY --from=build /opt/handoff /opt/handoff
COPY --from=build /opt/novnc/usr/share/novnc /usr/share/novnc
ENV PATH=/opt/handoff/bin:$PATH HANDOFF_STATE=/var/lib/handoff PYTHONUNBUFFERED=1
USER handoff
WORKDIR /home/handoff
VOLUME /var/lib/handoff
CMD ["handoff", "--help"]
