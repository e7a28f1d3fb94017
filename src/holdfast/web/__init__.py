"""What `holdfast serve` serves over HTTP: one application of several parts."""

from holdfast.web.site import (
    Asgi,
    Site,
    SitePart,
    answer,
    answer_json,
    body_of,
    headers_of,
    query_of,
)

__all__ = ["Asgi", "Site", "SitePart", "answer", "answer_json", "body_of", "headers_of", "query_of"]
