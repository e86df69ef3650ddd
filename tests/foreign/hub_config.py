# JupyterHub for one test: everybody is let in, servers are plain processes of this machine.
import json
import os

given = json.loads(os.environ["CELLWRIGHT_TEST_HUB"])
c = get_config()  # type: ignore[name-defined]  # noqa: F821 - JupyterHub gives it that
c.JupyterHub.bind_url = f"http://127.0.0.1:{given['port']}"
c.JupyterHub.hub_bind_url = f"http://127.0.0.1:{given['hub_port']}"
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{given['proxy_port']}"
c.ConfigurableHTTPProxy.command = given["proxy"]
c.JupyterHub.cookie_secret_file = given["cookie_secret_file"]
c.JupyterHub.db_url = "sqlite://"
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = given["home"]
c.Spawner.args = ["--allow-root", "--ServerApp.jpserver_extensions={'cellwright.server': True}"]
c.Spawner.environment = given["environ"]
c.JupyterHub.services = [{"name": "test", "api_token": given["token"]}]
scopes = ["admin:users", "admin:servers", "access:servers"]
c.JupyterHub.load_roles = [{"name": "test", "services": ["test"], "scopes": scopes}]
