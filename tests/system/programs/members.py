# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A site of Django's with public pages, pages for members and its administration; all of it Django's own.

Arguments: the port on the loopback, a folder for the database. Users are alice and bob, each the other's equal; their
password is their name. Django's cache of the whole site adds ``max-age`` also to what only members see.
"""

import secrets
import sys

import django
from django.conf import settings
from django.core.management import call_command

port, folder = sys.argv[1:]
_APPS = "admin auth contenttypes sessions messages sites flatpages staticfiles"
_PAGES = {"/about/": False, "/news/": False, "/members/": True, "/members/minutes/": True}
_TEMPLATE = """\
<!DOCTYPE html>
<html lang="en"><head><title>{{ flatpage.title }}</title></head><body><h1>{{ flatpage.title }}</h1>
{% if flatpage.registration_required %}<p id="who">{{ user }}</p>{% endif %}{{ flatpage.content }}</body></html>
"""
settings.configure(
    ALLOWED_HOSTS=["*"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{folder}/database"}},
    DEBUG=True,
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=[f"django.contrib.{name}" for name in _APPS.split()],
    LOGIN_URL="/admin/login/",
    MIDDLEWARE=[
        "django.middleware.cache.UpdateCacheMiddleware",
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
        "django.middleware.cache.FetchFromCacheMiddleware",
    ],
    ROOT_URLCONF=__name__,
    SECRET_KEY=secrets.token_hex(),
    SITE_ID=1,
    STATIC_URL="/static/",
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "OPTIONS": {
                "context_processors": [
                    "django.template.context_processors.request",
                    "django.contrib.auth.context_processors.auth",
                    "django.contrib.messages.context_processors.messages",
                ],
                "loaders": [
                    ("django.template.loaders.locmem.Loader", {"flatpages/default.html": _TEMPLATE}),
                    "django.template.loaders.app_directories.Loader",
                ],
            },
        }
    ],
    USE_TZ=True,
)
django.setup()

from django.contrib import admin  # noqa: E402 - only once Django is set up
from django.contrib.auth.models import User  # noqa: E402
from django.contrib.flatpages.models import FlatPage  # noqa: E402
from django.urls import include, path  # noqa: E402

urlpatterns = [path("admin/", admin.site.urls), path("", include("django.contrib.flatpages.urls"))]

if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    for name in ("alice", "bob"):
        User.objects.create_superuser(name, password=name)
    links = "".join(f'<p><a href="{url}">{url}</a></p>' for url in [*_PAGES, "/admin/", "/admin/auth/user/"])
    for url, members in _PAGES.items():
        page = FlatPage.objects.create(url=url, title=url, content=links, registration_required=members)
        page.sites.add(1)
    call_command("runserver", f"127.0.0.1:{port}", "--noreload")
