# The embedded servers as an image: one static binary and nothing else. 'make image' puts it into the build's folder; no step needs a network, and
# both the classic builder and BuildKit take this file.
FROM scratch
COPY pollbench /pollbench
# For certificates. A volume that is mounted here gets this folder's owner.
COPY --chown=65532:65532 certificates /certificates
USER 65532:65532
EXPOSE 9200
# Elasticsearch alone, unless another command is given; then the health command has to be another one too.
ENTRYPOINT ["/pollbench"]
CMD ["serve", "--json", "--elasticsearch-only", "--listen", "0.0.0.0", "--elasticsearch-port", "9200"]
HEALTHCHECK --interval=2s --timeout=5s --start-period=30s --retries=3 CMD ["/pollbench", "health", "http://127.0.0.1:9200"]
ARG VERSION=unknown
ARG COMMIT=unknown
LABEL pollbench="true" \
	org.opencontainers.image.title="pollbench/embedded" \
	org.opencontainers.image.description="pollbench's embedded Elasticsearch, dashboard server and edge" \
	org.opencontainers.image.licenses="Apache-2.0" \
	org.opencontainers.image.version="$VERSION" \
	org.opencontainers.image.revision="$COMMIT"
