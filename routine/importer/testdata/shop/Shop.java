import com.microsoft.playwright.*;
import com.microsoft.playwright.options.*;
import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import java.util.*;

public class Shop {
  public static void main(String[] args) {
    try (Playwright playwright = Playwright.create()) {
      Browser browser = playwright.chromium().launch();
      Page page = browser.newPage();
      page.navigate("http://127.0.0.1:8765/");
      page.getByLabel("Product name").fill("lamp");
      page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Search").setExact(true)).click();
      assertThat(page.getByText("products for")).isVisible();
      List<String> names = page.locator("xpath=//ul[@id='results']//a[contains(@class, 'name')]").allTextContents();
      System.out.println(names);
    }
  }
}
